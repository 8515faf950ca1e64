import { core } from '#api';
import { type Clock, isTimeout, raceAbort, timeoutSignal } from '#base';
import { CONTROLLERS, enabledControllers } from '#controllers';
import { findCondition } from '#machinery';
import type { Cluster, ClusterConfig } from './start-cluster.ts';

type ReadyOptions = Pick<ClusterConfig, 'nodes' | 'controllerManager'> & { readonly waitMs?: number };

const POLL_MS = 5;
/** Each poll lists all nodes, so large clusters are polled less often. */
const POLL_MS_PER_NODE = 0.05;
const DEFAULT_WAIT_MS = 60_000;

/**
 * Resolves when a pod could be created and would run: every node is Ready and schedulable, and the default service account exists. Without a
 * time to wait, when the server answers.
 */
export async function waitForReady(cluster: Cluster, expected: ReadyOptions, { clock }: { readonly clock: Clock }): Promise<void> {
  const { waitMs = DEFAULT_WAIT_MS } = expected;
  if (waitMs === 0) return Promise.race([cluster.ready, cluster.apiServer.ready]);
  const pollMs = Math.max(POLL_MS, POLL_MS_PER_NODE * (expected.nodes?.length ?? 0));
  using deadline = timeoutSignal(clock, waitMs);
  let missing: string | undefined = 'its parts have not all started';
  const over = ended(cluster);
  // A later stop of the cluster is handled elsewhere.
  over.catch(() => {});
  try {
    await raceAbort(cluster.ready, deadline.signal);
    for (;;) {
      missing = await raceAbort(whatIsMissing(cluster, expected), deadline.signal);
      if (missing === undefined) return;
      await raceAbort(Promise.race([clock.sleep(pollMs), over]), deadline.signal);
    }
  } catch (error) {
    throw isTimeout(error) ? new Error(`the cluster is not ready after ${waitMs / 1000} s: ${missing}`) : error;
  }
}

async function ended(cluster: Cluster): Promise<never> {
  await cluster.done;
  throw new DOMException('the cluster was stopped before it was ready', 'AbortError');
}

async function whatIsMissing({ client }: Cluster, { nodes = [], controllerManager = {} }: ReadyOptions): Promise<string | undefined> {
  const controllers = new Set(enabledControllers(CONTROLLERS, controllerManager.controllers ?? ['*']).map(({ name }) => name));
  if (controllers.has('serviceaccount-controller')) {
    const accounts = await client.of(core.ServiceAccount).list({ namespace: 'default', resourceVersion: '0' });
    if (!accounts.items.some(({ metadata }) => metadata.name === 'default')) return 'there is no default service account yet';
  }
  if (nodes.length === 0) return undefined;
  // Without the node lifecycle controller nodes keep their initial taint.
  const takesPods = controllers.has('node-lifecycle-controller') ? (node: core.Node) => isReady(node) && !isTainted(node) : isReady;
  const nodeList = await client.of(core.Node).list({ resourceVersion: '0' });
  const expected = new Set(nodes.map(({ name }) => name));
  const own = nodeList.items.filter(({ metadata }) => expected.has(metadata.name));
  const ready = new Set(own.filter(takesPods).map(({ metadata }) => metadata.name));
  const [first, ...others] = nodes.filter(({ name }) => !ready.has(name));
  if (first === undefined) return undefined;
  const reason = unreadyReason(own.find(({ metadata }) => metadata.name === first.name));
  return `${1 + others.length} of ${nodes.length} nodes are not Ready, ${first.name} among them: ${reason}`;
}

function isReady({ status }: core.Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** What the kubelet reports, such as a runtime without a network. */
function unreadyReason(node: core.Node | undefined): string {
  if (node === undefined) return 'it has not registered';
  if (isReady(node)) return 'it still has the taint node.kubernetes.io/not-ready';
  return findCondition(node.status?.conditions, 'Ready')?.message || 'it has not reported its status';
}

function isTainted({ spec }: core.Node): boolean {
  return spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready') === true;
}
