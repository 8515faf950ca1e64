import { core } from '#api';
import type { Clock } from '#base';
import { CONTROLLERS, enabledControllers } from '#controllers';
import { findCondition } from '#machinery';
import type { Cluster, ClusterConfig } from './start-cluster.ts';

type Expected = Pick<ClusterConfig, 'nodes' | 'controllerManager'> & { readonly waitMs?: number };

const POLL_MS = 5;
const DEFAULT_WAIT_MS = 60_000;

/** Resolves when a pod could be created and would run: every node is Ready, and the default service account exists. */
export async function untilUsable(cluster: Cluster, expected: Expected, { clock }: { readonly clock: Clock }): Promise<void> {
  const { waitMs = DEFAULT_WAIT_MS } = expected;
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    if (waitMs === 0) return;
    const missing = await whatIsMissing(cluster, expected);
    if (missing === undefined) return;
    if (clock.monotonic() >= deadline) throw new Error(`the cluster is not ready after ${waitMs / 1000} s: ${missing}`);
    await clock.sleep(POLL_MS);
  }
}

async function whatIsMissing({ client }: Cluster, { nodes = [], controllerManager = {} }: Expected): Promise<string | undefined> {
  if (makesAccounts(controllerManager.controllers)) {
    const accounts = await client.of(core.ServiceAccount).list({ namespace: 'default', resourceVersion: '0' });
    if (!accounts.items.some(({ metadata }) => metadata.name === 'default')) return 'there is no default service account yet';
  }
  if (nodes.length === 0) return undefined;
  const known = await client.of(core.Node).list({ resourceVersion: '0' });
  const ready = new Set(known.items.filter(isReady).map(({ metadata }) => metadata.name));
  const late = nodes.filter((name) => !ready.has(name));
  return late.length === 0 ? undefined : `${late.length} of ${nodes.length} nodes are not Ready, ${late[0]} among them`;
}

function makesAccounts(controllers: readonly string[] = ['*']): boolean {
  return enabledControllers(CONTROLLERS, controllers).some(({ name }) => name === 'serviceaccount-controller');
}

function isReady({ status }: core.Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}
