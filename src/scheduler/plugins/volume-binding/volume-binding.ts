import { core } from '#api';
import type { Clock } from '#base';
import type { Client } from '#client';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects, Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { failed, SKIP, type Status, unresolvable } from '../../framework/status.ts';
import { annotationOf, claimsOf, isClaimBound, SELECTED_NODE, waitsForConsumer } from '../../framework/volume-claims.ts';
import { usesClaim } from '../volume-restrictions/volume-restrictions.ts';
import { AssumedVolumes } from './assumed-volumes.ts';
import { findVolumes, type NodeVolumes, reachesNode } from './find-volumes.ts';

const NAME = 'VolumeBinding';
const UNBOUND_IMMEDIATE = unresolvable(NAME, 'pod has unbound immediate PersistentVolumeClaims');
const NO_VOLUME = unresolvable(NAME, "node(s) didn't find available persistent volumes to bind");
const NO_SPACE = unresolvable(NAME, 'node(s) did not have enough free storage');
const OTHER_NODE = unresolvable(NAME, "node(s) didn't match PersistentVolume's node affinity");
const NO_SUCH_VOLUME = unresolvable(NAME, 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
const CHECK_EVERY_MS = 200;

interface ClaimedVolumes {
  readonly bound: readonly core.PersistentVolumeClaim[];
  /** Claims that wait for this pod. */
  readonly waiting: readonly core.PersistentVolumeClaim[];
  /** What was found on each node that passed. */
  readonly byNode: Map<string, NodeVolumes>;
}

/** A pod's volumes must be usable on its node; those that wait for a consumer are bound, or made, where the pod goes. */
export const volumeBinding: PluginFactory = (args, handle): Plugin => {
  const { objects } = handle;
  const assumed = new AssumedVolumes(objects);
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
      const claims = sortClaims(pod, objects);
      if ('code' in claims) return { status: claims };
      state.write(NAME, claims);
      return undefined;
    },
    filter(state, _, node) {
      const claims = state.read<ClaimedVolumes>(NAME)!;
      const refusal = checkBound(claims.bound, node, objects);
      const found = findOn(node, claims, { objects, assumed });
      if ('code' in found) return refusal === undefined ? found : unresolvable(NAME, ...refusal.reasons, ...found.reasons);
      if (refusal !== undefined) return refusal;
      claims.byNode.set(node.name, found);
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
      const found = toBind(state, node);
      if (found === undefined) return undefined;
      try {
        const promised = await write(found, node, { client: handle.client, assumed });
        return await untilBound(pod, { found, promised, node }, { ...handle, timeoutMs });
      } catch (error) {
        return failed(NAME, error);
      }
    },
  };
};

/** What is left to do for the pod on the node. */
function toBind(state: CycleState, node: NodeInfo): NodeVolumes | undefined {
  const found = state.read<ClaimedVolumes>(NAME)?.byNode.get(node.name);
  return found === undefined || found.bindings.length + found.provisions.length === 0 ? undefined : found;
}

function sortClaims(pod: PodInfo, objects: ClusterObjects): ClaimedVolumes | Status {
  const claims = claimsOf(pod, objects);
  if (typeof claims === 'string') return unresolvable(NAME, claims);
  const unbound = claims.filter((claim) => !isClaimBound(claim));
  if (unbound.some((claim) => claim.spec?.volumeName || !waitsForConsumer(claim, objects))) return UNBOUND_IMMEDIATE;
  return { bound: claims.filter(isClaimBound), waiting: unbound, byNode: new Map() };
}

function checkBound(claims: readonly core.PersistentVolumeClaim[], node: NodeInfo, { volumes }: ClusterObjects): Status | undefined {
  for (const { spec } of claims) {
    const volume = volumes.get({ name: spec?.volumeName ?? '' });
    if (volume === undefined) return NO_SUCH_VOLUME;
    if (!reachesNode(volume, node)) return OTHER_NODE;
  }
  return undefined;
}

interface Finding {
  readonly objects: ClusterObjects;
  readonly assumed: AssumedVolumes;
}

function findOn(node: NodeInfo, { waiting }: ClaimedVolumes, { objects, assumed }: Finding): NodeVolumes | Status {
  if (waiting.length === 0) return { bindings: [], provisions: [] };
  // A volume is being made elsewhere for a claim that was promised to another node.
  const isPromisedElsewhere = waiting.some((claim) => (annotationOf(claim as never, SELECTED_NODE) ?? node.name) !== node.name);
  if (isPromisedElsewhere) return NO_VOLUME;
  const found = findVolumes(waiting, node, { volumes: assumed.list(), objects });
  if (found === 'no-volume') return NO_VOLUME;
  return found === 'no-space' ? NO_SPACE : found;
}

/** Says in the API what was decided: the volume controller and drivers do the rest. Returns the claims for which volumes will be made. */
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

interface Decided {
  readonly found: NodeVolumes;
  /** As they were written. */
  readonly promised: readonly core.PersistentVolumeClaim[];
  readonly node: NodeInfo;
}

interface Waiting {
  readonly clock: Clock;
  readonly objects: ClusterObjects;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function untilBound(pod: PodInfo, decided: Decided, { clock, objects, signal, timeoutMs }: Waiting): Promise<Status | undefined> {
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const problem = whyHopeless(pod, decided, objects);
    if (problem !== undefined) return failed(NAME, new Error(`binding volumes: ${problem}`));
    if (areBound(decided.found, objects)) return undefined;
    if (clock.monotonic() >= deadline) return failed(NAME, new Error('binding volumes: context deadline exceeded'));
    await clock.sleep(CHECK_EVERY_MS, signal);
  }
}

function areBound({ bindings, provisions }: NodeVolumes, { claims }: ClusterObjects): boolean {
  return [...bindings.map(({ claim }) => claim), ...provisions].every(({ metadata }) => {
    const claim = claims.get(metadata);
    return claim !== undefined && isClaimBound(claim);
  });
}

function whyHopeless(pod: PodInfo, { found, promised, node }: Decided, { pods, claims }: ClusterObjects): string | undefined {
  if (pods.get(pod.pod.metadata)?.metadata.uid !== pod.uid) return `pod does not exist any more: pod "${pod.name}" not found`;
  for (const { claim } of found.bindings) {
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
    // A driver that cannot make the volume there takes the node's name away, so that another is looked for.
    if (annotationOf(claim as never, SELECTED_NODE) !== node.name) return `provisioning failed for PVC "${name}"`;
  }
  return undefined;
}

/** Whether our own write has not come back yet. */
function isOlder(seen: core.PersistentVolumeClaim, written: core.PersistentVolumeClaim): boolean {
  return Number(seen.metadata.resourceVersion ?? 0) < Number(written.metadata.resourceVersion ?? 0);
}
