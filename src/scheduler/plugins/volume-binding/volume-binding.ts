import { core } from '#api';
import type { Clock } from '#base';
import { type Client, keyOf } from '#client';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects, Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { failed, SKIP, type Status, unresolvable } from '../../framework/status.ts';
import { annotationOf, claimsOf, isClaimBound, SELECTED_NODE, waitsForConsumer } from '../../framework/volume-claims.ts';
import { usesClaim } from '../volume-restrictions/volume-restrictions.ts';
import { AssumedVolumes } from './assumed-volumes.ts';
import { BindingWaiters } from './binding-waiters.ts';
import { findVolumes, type NodeVolumes, reachesNode } from './find-volumes.ts';

const NAME = 'VolumeBinding';
const UNBOUND_IMMEDIATE = unresolvable(NAME, 'pod has unbound immediate PersistentVolumeClaims');
const NO_VOLUME = unresolvable(NAME, "node(s) didn't find available persistent volumes to bind");
const NO_SPACE = unresolvable(NAME, 'node(s) did not have enough free storage');
const OTHER_NODE = unresolvable(NAME, "node(s) didn't match PersistentVolume's node affinity");
const NO_SUCH_VOLUME = unresolvable(NAME, 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');

interface ClaimedVolumes {
  readonly bound: readonly core.PersistentVolumeClaim[];
  /** Claims that wait for this pod. */
  readonly waiting: readonly core.PersistentVolumeClaim[];
  /** The volumes that these may be bound to, on any node. */
  readonly candidates: readonly core.PersistentVolume[];
  /** The decisions per node that passed. */
  readonly byNode: Map<string, NodeVolumes>;
}

/** A pod's volumes must be usable on its node; those that wait for a consumer are bound or provisioned for the pod's node. */
export const volumeBinding: PluginFactory = (args, handle): Plugin => {
  const { objects } = handle;
  const assumed = new AssumedVolumes(objects);
  const waiters = new BindingWaiters(handle.clock, handle.signal);
  handle.onClaimChange((claim) => waiters.changed(keyOf(claim)));
  const timeoutMs = ((args.bindTimeoutSeconds as number | undefined) ?? 600) * 1000;
  return {
    name: NAME,
    events: [
      { resource: 'StorageClass', actions: ['Add', 'Update'] },
      {
        resource: 'PersistentVolumeClaim',
        actions: ['Add', 'Update'],
        hint: (pod, { after }) => (usesClaim(pod, after as core.PersistentVolumeClaim) ? 'Queue' : 'Skip'),
      },
      { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
      { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
      { resource: 'CSINode', actions: ['Add', 'Update'] },
      { resource: 'CSIDriver', actions: ['Update'] },
      { resource: 'CSIStorageCapacity', actions: ['Add', 'Update'] },
    ],
    preFilter(state, pod) {
      if (pod.claims.length === 0) return { status: SKIP };
      const claims = sortClaims(pod, { objects, assumed });
      if ('code' in claims) return { status: claims };
      state.write(NAME, claims);
      return undefined;
    },
    filter(state, _, node) {
      const claims = state.read<ClaimedVolumes>(NAME)!;
      const rejection = checkBound(claims.bound, node, objects);
      const nodeVolumes = findOn(node, claims, objects);
      if ('code' in nodeVolumes)
        return rejection === undefined ? nodeVolumes : { ...rejection, reasons: [...rejection.reasons, ...nodeVolumes.reasons] };
      if (rejection !== undefined) return rejection;
      claims.byNode.set(node.name, nodeVolumes);
      return undefined;
    },
    reserve(state, _, node) {
      for (const binding of state.read<ClaimedVolumes>(NAME)?.byNode.get(node.name)?.bindings ?? []) assumed.assume(binding);
      return undefined;
    },
    unreserve(state, _, node) {
      const bindings = state.read<ClaimedVolumes>(NAME)?.byNode.get(node.name)?.bindings ?? [];
      for (const { volume } of bindings) assumed.restore(volume.metadata.name);
    },
    willPreBind: (state, _, node) => toBind(state, node) !== undefined,
    async preBind(state, pod, node) {
      const nodeVolumes = toBind(state, node);
      if (nodeVolumes === undefined) return undefined;
      try {
        const promised = await write(nodeVolumes, node, { client: handle.client, assumed });
        return await untilBound(pod, { nodeVolumes, promised, node }, { ...handle, waiters, timeoutMs });
      } catch (error) {
        return failed(NAME, error);
      }
    },
  };
};

/** The bindings and provisioning that the pod needs on the node. */
function toBind(state: CycleState, node: NodeInfo): NodeVolumes | undefined {
  const nodeVolumes = state.read<ClaimedVolumes>(NAME)?.byNode.get(node.name);
  return nodeVolumes === undefined || nodeVolumes.bindings.length + nodeVolumes.provisions.length === 0 ? undefined : nodeVolumes;
}

function sortClaims(pod: PodInfo, { objects, assumed }: SearchContext): ClaimedVolumes | Status {
  const claims = claimsOf(pod, objects);
  if (typeof claims === 'string') return unresolvable(NAME, claims);
  const unbound = claims.filter((claim) => !isClaimBound(claim));
  if (unbound.some((claim) => claim.spec?.volumeName || !waitsForConsumer(claim, objects))) return UNBOUND_IMMEDIATE;
  const candidates = assumed.candidatesFor(unbound);
  return { bound: claims.filter(isClaimBound), waiting: unbound, candidates, byNode: new Map() };
}

function checkBound(claims: readonly core.PersistentVolumeClaim[], node: NodeInfo, { volumes }: ClusterObjects): Status | undefined {
  for (const { spec } of claims) {
    const volume = volumes.get({ name: spec?.volumeName ?? '' });
    if (volume === undefined) return NO_SUCH_VOLUME;
    if (!reachesNode(volume, node)) return OTHER_NODE;
  }
  return undefined;
}

interface SearchContext {
  readonly objects: ClusterObjects;
  readonly assumed: AssumedVolumes;
}

function findOn(node: NodeInfo, { waiting, candidates }: ClaimedVolumes, objects: ClusterObjects): NodeVolumes | Status {
  if (waiting.length === 0) return { bindings: [], provisions: [] };
  // The claim's volume is being provisioned for another node.
  const isPromisedElsewhere = waiting.some((claim) => (annotationOf(claim as never, SELECTED_NODE) ?? node.name) !== node.name);
  if (isPromisedElsewhere) return NO_VOLUME;
  const nodeVolumes = findVolumes(waiting, node, { volumes: candidates, objects });
  if (nodeVolumes === 'no-volume') return NO_VOLUME;
  return nodeVolumes === 'no-space' ? NO_SPACE : nodeVolumes;
}

/** Writes the binding decisions; the PV controller and provisioners act on them. Returns the claims to be provisioned. */
async function write(
  { bindings, provisions }: NodeVolumes,
  { name: nodeName }: NodeInfo,
  { client, assumed }: { client: Client; assumed: AssumedVolumes },
): Promise<readonly core.PersistentVolumeClaim[]> {
  for (const binding of bindings) {
    const volume = assumed.assume(binding);
    if (binding.volume.spec?.claimRef?.uid !== binding.claim.metadata.uid) await client.of(core.PersistentVolume).update(volume);
  }
  const promised: core.PersistentVolumeClaim[] = [];
  for (const { metadata } of provisions) {
    const { uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: nodeName } } };
    promised.push(await client.of(core.PersistentVolumeClaim).patch(metadata, patch));
  }
  return promised;
}

interface BindDecision {
  readonly nodeVolumes: NodeVolumes;
  /** As they were written. */
  readonly promised: readonly core.PersistentVolumeClaim[];
  readonly node: NodeInfo;
}

interface WaitContext {
  readonly clock: Clock;
  readonly objects: ClusterObjects;
  readonly waiters: BindingWaiters;
  readonly timeoutMs: number;
}

const BOUND = 'bound';

async function untilBound(
  pod: PodInfo,
  decided: BindDecision,
  { clock, objects, waiters, timeoutMs }: WaitContext,
): Promise<Status | undefined> {
  const deadline = clock.monotonic() + timeoutMs;
  const claims = [...decided.nodeVolumes.bindings.map(({ claim }) => claim), ...decided.nodeVolumes.provisions];
  const observe = () => [objects.pods.get(pod.pod.metadata), ...claims.map(({ metadata }) => objects.claims.get(metadata))];
  let observed: readonly unknown[] = [];
  const outcome = await waiters.until<Error | typeof BOUND>(claims.map(keyOf), () => {
    if (clock.monotonic() >= deadline) return new Error('binding volumes: context deadline exceeded');
    const current = observe();
    // Cached objects are immutable: the same ones give the same answer.
    if (current.every((object, index) => object !== undefined && object === observed[index])) return undefined;
    observed = current;
    const problem = unresolvableReason(pod, decided, objects);
    if (problem !== undefined) return new Error(`binding volumes: ${problem}`);
    return areBound(decided.nodeVolumes, objects) ? BOUND : undefined;
  });
  return outcome === BOUND ? undefined : failed(NAME, outcome);
}

function areBound({ bindings, provisions }: NodeVolumes, { claims }: ClusterObjects): boolean {
  return [...bindings.map(({ claim }) => claim), ...provisions].every(({ metadata }) => {
    const claim = claims.get(metadata);
    return claim !== undefined && isClaimBound(claim);
  });
}

function unresolvableReason(
  pod: PodInfo,
  { nodeVolumes, promised, node }: BindDecision,
  { pods, claims }: ClusterObjects,
): string | undefined {
  if (pods.get(pod.pod.metadata)?.metadata.uid !== pod.uid) return `pod does not exist any more: pod "${pod.name}" not found`;
  for (const { claim } of nodeVolumes.bindings) {
    const { namespace, name } = claim.metadata;
    if (claims.get(claim.metadata) === undefined)
      return `failed to check binding: could not find v1.PersistentVolumeClaim "${namespace}/${name}"`;
  }
  for (const written of promised) {
    const { namespace, name } = written.metadata;
    const claim = claims.get(written.metadata);
    if (claim === undefined) return `failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "${namespace}/${name}"`;
    if (isOlder(claim, written)) continue;
    if (claim.metadata.annotations == null) return `selectedNode annotation reset for PVC "${name}"`;
    // A driver that cannot provision there removes the selected node, so that another one is chosen.
    if (annotationOf(claim as never, SELECTED_NODE) !== node.name) return `provisioning failed for PVC "${name}"`;
  }
  return undefined;
}

/** Whether the informer has not seen our own write yet. */
function isOlder(seen: core.PersistentVolumeClaim, written: core.PersistentVolumeClaim): boolean {
  return Number(seen.metadata.resourceVersion ?? 0) < Number(written.metadata.resourceVersion ?? 0);
}
