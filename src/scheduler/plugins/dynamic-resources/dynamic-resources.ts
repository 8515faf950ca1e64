import { core, resource } from '#api';
import type { EventInterest } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import { normalizeByMaximum } from '../../framework/normalize-scores.ts';
import type { ClusterObjects, Plugin, PluginFactory, PluginHandle, PostFilterResult } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { failed, SKIP, type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { bindClaim } from './bind-claim.ts';
import { hasBindingConditions, isOverdue, readinessOf } from './binding-conditions.ts';
import { DeviceAllocator } from './device-allocator.ts';
import { type Claim, keyOf } from './device-request.ts';
import { DeviceSelectors } from './device-selectors.ts';
import { bindExtendedClaim, deleteClaim } from './extended-claim.ts';
import { backedResources, claimDraft, claimForNode, extendedClaim, isInMemory, type NodeClaim } from './extended-resources.ts';
import { PoolIndex } from './offered-devices.ts';
import { PendingAllocations } from './pending-allocations.ts';
import { isReservedFor, isUsableBy, podClaims } from './pod-claims.ts';

const NAME = 'DynamicResources';
const IN_USE = unresolvable(NAME, 'resourceclaim in use');
const ELSEWHERE = unresolvable(NAME, 'resourceclaim not available on the node');
const BINDING_TIMEOUT_MS = 600_000;
const CHECK_EVERY_MS = 1000;
/** How many alternatives a request can have: the first counts most. */
const MAX_ALTERNATIVES = 8;

/** The state of a pod's claims in a cycle. */
interface ClaimsState {
  readonly claims: readonly Claim[];
  /** Claims without an allocation. */
  readonly unallocated: readonly Claim[];
  readonly allocator: DeviceAllocator | undefined;
  /** Per node that passed: one allocation for each of `unallocated`. */
  readonly byNode: Map<string, readonly resource.AllocationResult[]>;
  /** Claims whose devices keep the pod from a node. */
  readonly obstacles: Set<Claim>;
  /** The claim for the pod's extended resources. Absent: none of them is backed by devices. */
  readonly extended?: ExtendedState;
}

interface ExtendedState {
  /** In memory, or left by an earlier try: then it is deleted first. */
  readonly claim: Claim;
  /** The devices that nodes that passed need beyond their own resources. */
  readonly byNode: Map<string, NodeClaim & { readonly allocation: resource.AllocationResult }>;
  /** Once it is in the cluster. */
  created?: Claim;
}

/** Shared by pods without claims; never modified. */
const NO_CLAIMS: Readonly<ClaimsState> = { claims: [], unallocated: [], allocator: undefined, byNode: new Map(), obstacles: new Set() };

/** Dynamic resource allocation: filters nodes by the devices that a pod's ResourceClaims need, and allocates them. */
export const dynamicResources: PluginFactory = (_, handle): Plugin => {
  const { objects, client, clock } = handle;
  const selectors = new DeviceSelectors();
  const pending = new PendingAllocations(objects.resourceClaims);
  let pools = new PoolIndex([]);
  const stateOf = (state: CycleState) => state.read<ClaimsState>(NAME) ?? NO_CLAIMS;
  return {
    name: NAME,
    events: eventsFor(objects),
    preEnqueue(pod) {
      const claims = podClaims(pod, objects.resourceClaims);
      return typeof claims === 'string' ? unresolvable(NAME, claims) : undefined;
    },
    preFilter(state, pod) {
      state.write(NAME, NO_CLAIMS);
      const claims = podClaims(pod, objects.resourceClaims);
      if (typeof claims === 'string') return { status: unresolvable(NAME, claims) };
      const isExtended = backedResources(pod, objects.deviceClasses).length > 0;
      if (claims.length === 0 && !isExtended) return { status: SKIP };
      const rejection = whyNotNow(pod, claims, { objects, pending });
      if (rejection !== undefined) return { status: rejection };
      pools = pools.following(objects.resourceSlices.list());
      const extended = isExtended
        ? { claim: extendedClaim(pod, objects.resourceClaims, handle.random.uuid()), byNode: new Map<string, never>() }
        : undefined;
      state.write(NAME, { ...prepared(claims, { handle, selectors, pending, pools, isExtended }), ...(extended && { extended }) });
      return undefined;
    },
    filter: (state, pod, node) => checkNode(stateOf(state), { pod, node, now: clock.now(), classes: objects.deviceClasses }),
    postFilter(state, { uid }) {
      if (state.read(NAME) === undefined) return { status: failed(NAME, new Error('not found')) };
      return releaseClaims(stateOf(state), uid, handle);
    },
    preScore: (state) => (hasAlternatives(stateOf(state)) ? undefined : SKIP),
    score: (state, __, { name }) => alternativesScore(stateOf(state), name),
    normalizeScores: (__, scores) => normalizeByMaximum(scores, false),
    reserve(state, __, node) {
      const { unallocated, byNode } = stateOf(state);
      const allocations = byNode.get(node.name) ?? [];
      if (allocations.length !== unallocated.length) return failed(NAME, new Error('claim allocation not found for node'));
      for (const [i, claim] of unallocated.entries()) pending.add(claim, allocations[i] as resource.AllocationResult);
      const own = stateOf(state).extended?.byNode.get(node.name);
      if (own !== undefined) pending.add(own.claim, own.allocation);
      return undefined;
    },
    unreserve(state, { uid }) {
      const { claims, unallocated, extended } = stateOf(state);
      for (const claim of unallocated) pending.delete(claim);
      if (extended !== undefined) discard(extended, { pending, handle });
      for (const { metadata } of claims) {
        const claim = objects.resourceClaims.get(metadata);
        if (claim !== undefined && isReservedFor(claim, uid)) release(claim, uid, handle);
      }
    },
    willPreBind: (state, __, node) => stateOf(state).claims.length > 0 || stateOf(state).extended?.byNode.has(node.name) === true,
    async preBind(state, pod, node) {
      const { claims, unallocated, byNode, extended } = stateOf(state);
      const allocations = byNode.get(node.name) ?? [];
      const own = extended?.byNode.get(node.name);
      try {
        for (const claim of claims.filter((candidate) => !isReservedFor(candidate, pod.uid))) {
          await bindClaim({ claim, allocation: allocations[unallocated.indexOf(claim)], pod }, { client, clock });
        }
        if (extended !== undefined && own !== undefined) {
          extended.created = await client.of(resource.ResourceClaim).create(claimDraft(own.claim));
          pending.replace(own.claim, extended.created);
          await bindExtendedClaim({ ...own, claim: extended.created, pod }, { client, clock });
        }
        return await untilReady(extended?.created ? [...claims, extended.created] : claims, handle);
      } catch (error) {
        return failed(NAME, error);
      }
    },
  };
};

function eventsFor({ resourceClaims }: ClusterObjects): readonly EventInterest[] {
  return [
    { resource: 'Node', actions: ['Add', 'UpdateNodeLabel', 'UpdateNodeAllocatable'] },
    {
      resource: 'ResourceClaim',
      actions: ['Add', 'Update'],
      hint(pod, { before, after }) {
        const claims = podClaims(pod, resourceClaims);
        if (typeof claims === 'string') return 'Skip';
        const wasFreed =
          (before as Claim | undefined)?.status?.allocation !== undefined && (after as Claim).status?.allocation === undefined;
        return wasFreed || claims.some(({ metadata }) => metadata.uid === (after as Claim).metadata.uid) ? 'Queue' : 'Skip';
      },
    },
    {
      resource: 'UnscheduledPod',
      actions: ['UpdatePodGeneratedResourceClaim'],
      hint: (pod) => (typeof podClaims(pod, resourceClaims) === 'string' ? 'Skip' : 'Queue'),
    },
    { resource: 'DeviceClass', actions: ['Add', 'Update'] },
    { resource: 'ResourceSlice', actions: ['Add', 'Update'] },
  ];
}

interface Knowledge {
  readonly objects: ClusterObjects;
  readonly pending: PendingAllocations;
}

/** Why the pod currently fits no node. */
function whyNotNow({ uid }: PodInfo, claims: readonly Claim[], { objects, pending }: Knowledge): Status | undefined {
  for (const claim of claims) {
    if (claim.status?.allocation !== undefined) {
      if (!isUsableBy(claim, uid)) return IN_USE;
      continue;
    }
    if (pending.has(claim)) return unresolvable(NAME, `resource claim ${keyOf(claim)} is in the process of being allocated`);
    for (const { name, deviceClassName } of requestedClasses(claim)) {
      if (objects.deviceClasses.get({ name: deviceClassName }) === undefined) {
        return unresolvable(NAME, `request ${name}: device class ${deviceClassName} does not exist`);
      }
    }
  }
  return undefined;
}

function requestedClasses({ spec }: Claim): readonly { readonly name: string; readonly deviceClassName: string }[] {
  return (spec.devices?.requests ?? []).flatMap(({ name, exactly, firstAvailable = [] }) => {
    if (exactly !== undefined) return [{ name, deviceClassName: exactly.deviceClassName }];
    return firstAvailable.map((alternative) => ({ name: `${name}/${alternative.name}`, deviceClassName: alternative.deviceClassName }));
  });
}

interface Preparation {
  /** Devices are needed even if all claims have theirs. */
  readonly isExtended: boolean;
  readonly handle: PluginHandle;
  readonly selectors: DeviceSelectors;
  readonly pending: PendingAllocations;
  readonly pools: PoolIndex;
}

function prepared(claims: readonly Claim[], { handle, selectors, pending, pools, isExtended }: Preparation): ClaimsState {
  const { objects, random } = handle;
  const unallocated = claims.filter(({ status }) => status?.allocation === undefined);
  const supply = () => ({
    pools,
    allocated: pending.devices(),
    selectors,
    random,
    classNamed: (name: string) => objects.deviceClasses.get({ name }),
  });
  const allocator = unallocated.length === 0 && !isExtended ? undefined : new DeviceAllocator(supply());
  return { claims, unallocated, allocator, byNode: new Map(), obstacles: new Set() };
}

interface NodeCheck {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly now: number;
  readonly classes: ClusterObjects['deviceClasses'];
}

function checkNode(state: ClaimsState, { pod, node, now, classes }: NodeCheck): Status | undefined {
  const { claims, unallocated, byNode, obstacles, extended } = state;
  if (extended !== undefined && !isInMemory(extended.claim)) return LEFTOVER_CLAIM;
  const own = extended && claimForNode(extended.claim, { pod, node, classes });
  const unusable = claims.filter((claim) => !unallocated.includes(claim) && !isUsableOn(claim, node, now));
  try {
    const allocations = allocate(state, node, own);
    if ('reason' in allocations) return unresolvable(NAME, allocations.reason);
    if (unusable.length === 0) {
      byNode.set(node.name, allocations.slice(0, unallocated.length));
      if (own !== undefined) extended?.byNode.set(node.name, { ...own, allocation: allocations.at(-1) as resource.AllocationResult });
      return undefined;
    }
  } catch (error) {
    return failed(NAME, error);
  }
  for (const claim of unusable) obstacles.add(claim);
  return ELSEWHERE;
}

function allocate({ unallocated, allocator }: ClaimsState, node: NodeInfo, own: NodeClaim | undefined) {
  const claims = own === undefined ? unallocated : [...unallocated, own.claim];
  return allocator === undefined || claims.length === 0 ? [] : allocator.allocate(claims, node);
}

/** The pod was not bound: its claim for extended resources is deleted, and later recreated. */
function discard(extended: ExtendedState, { pending, handle }: { pending: PendingAllocations; handle: PluginHandle }): void {
  const { created, claim } = extended;
  pending.delete(claim);
  if (created === undefined) return;
  pending.delete(created);
  deleteClaim(created, handle).catch((error: unknown) =>
    handle.logger.warn('a claim could not be deleted', { claim: keyOf(created), error }),
  );
}

function isUsableOn(claim: Claim, node: NodeInfo, now: number): boolean {
  if (core.compileNodeSelector(claim.status?.allocation?.nodeSelector)?.matches(node) === false) return false;
  const readiness = readinessOf(claim);
  return readiness === 'ready' || (readiness === 'not-yet' && !isOverdue(claim, now, BINDING_TIMEOUT_MS));
}

const LEFTOVER_CLAIM = unschedulable(NAME, 'cannot schedule extended resource claim');

/** Deallocates unused devices that are on nodes where the pod cannot run, so that it can get others. */
function releaseClaims({ claims, obstacles, extended }: ClaimsState, uid: string, handle: PluginHandle): PostFilterResult {
  const { client } = handle;
  if (claims.length === 0 && extended === undefined) return { status: unschedulable(NAME, 'no new claims to deallocate') };
  const idle = [...obstacles].find(({ status }) => (status?.reservedFor ?? []).every((consumer) => consumer.uid === uid));
  const leftoverClaim = extended === undefined || isInMemory(extended.claim) ? undefined : extended.claim;
  if (idle === undefined && leftoverClaim !== undefined) {
    return { status: unschedulable(NAME, 'deletion of ResourceClaim completed'), cleanUp: () => deleteClaim(leftoverClaim, handle) };
  }
  if (idle === undefined) return { status: unschedulable(NAME, 'still not schedulable') };
  const cleanUp = async () => {
    await client.of(resource.ResourceClaim).updateStatus({ ...idle, status: {} });
  };
  return { status: unschedulable(NAME, 'deallocation of ResourceClaim completed'), cleanUp };
}

function hasAlternatives({ claims }: ClaimsState): boolean {
  return claims.some(({ spec }) => (spec.devices?.requests ?? []).some(({ firstAvailable = [] }) => firstAvailable.length > 0));
}

/** Higher when requests got earlier alternatives of firstAvailable. */
function alternativesScore({ claims, unallocated, byNode }: ClaimsState, nodeName: string): number {
  const allocations = byNode.get(nodeName) ?? [];
  let score = 0;
  for (const claim of claims) {
    const allocation = claim.status?.allocation ?? allocations[unallocated.indexOf(claim)];
    const chosen = new Set((allocation?.devices?.results ?? []).map(({ request }) => request));
    for (const { name, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
      const rank = firstAvailable.findIndex((alternative) => chosen.has(`${name}/${alternative.name}`));
      if (rank >= 0) score += MAX_ALTERNATIVES - rank;
    }
  }
  return score;
}

/** The pod does not use the claim after all. */
function release({ metadata }: Claim, uid: string, { client, logger }: PluginHandle): void {
  const patch = { metadata: { uid: metadata.uid }, status: { reservedFor: [{ $patch: 'delete', uid }] } };
  client
    .of(resource.ResourceClaim)
    .patch(metadata, patch, { type: 'strategic', subresource: 'status' })
    .catch((error: unknown) => logger.warn('a claim could not be released', { claim: `${metadata.namespace}/${metadata.name}`, error }));
}

/** Waits for the binding conditions of devices. */
async function untilReady(claims: readonly Claim[], { objects, clock, signal }: PluginHandle): Promise<Status | undefined> {
  const deadline = clock.monotonic() + BINDING_TIMEOUT_MS;
  for (;;) {
    const seen = claims.map(({ metadata }) => objects.resourceClaims.get(metadata));
    const isWritten = seen.every((claim) => claim?.status?.allocation !== undefined);
    if (isWritten && !seen.some((claim) => hasBindingConditions(claim as Claim))) return undefined;
    const states = seen.map((claim) => (claim === undefined ? 'not-yet' : readinessOf(claim)));
    const problem = states.find((state) => typeof state === 'object');
    if (problem !== undefined) return failed(NAME, new Error(problem.problem));
    if (isWritten && states.every((state) => state === 'ready')) return undefined;
    if (clock.monotonic() >= deadline) return failed(NAME, new Error('device binding timeout: context deadline exceeded'));
    await clock.sleep(CHECK_EVERY_MS, signal);
  }
}
