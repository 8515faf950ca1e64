import { resource } from '#api';
import type { EventInterest } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import { compileNodeSelector } from '../../framework/node-selector.ts';
import { normalizeByMaximum } from '../../framework/normalize-scores.ts';
import type { ClusterObjects, Plugin, PluginFactory, PluginHandle, PostFilterResult } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { failed, SKIP, type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { bindClaim } from './bind-claim.ts';
import { hasBindingConditions, isOverdue, readinessOf } from './binding-conditions.ts';
import { DeviceAllocator } from './device-allocator.ts';
import { DeviceSelectors } from './device-selectors.ts';
import { PendingAllocations } from './pending-allocations.ts';
import { isReservedFor, isUsableBy, podClaims } from './pod-claims.ts';
import { type Claim, keyOf } from './wanted-devices.ts';

const NAME = 'DynamicResources';
const IN_USE = unresolvable(NAME, 'resourceclaim in use');
const ELSEWHERE = unresolvable(NAME, 'resourceclaim not available on the node');
const BINDING_TIMEOUT_MS = 600_000;
const CHECK_EVERY_MS = 1000;
/** How many alternatives a request can have: the first counts most. */
const MAX_ALTERNATIVES = 8;

/** What is known of a pod's claims in a cycle. */
interface ClaimsState {
  readonly claims: readonly Claim[];
  /** Those that have no devices yet. */
  readonly unallocated: readonly Claim[];
  readonly allocator: DeviceAllocator | undefined;
  /** What can be had on each node that passed: one allocation for each of `unallocated`. */
  readonly byNode: Map<string, readonly resource.AllocationResult[]>;
  /** Claims whose devices keep the pod from a node. */
  readonly obstacles: Set<Claim>;
}

/** Of pods without claims, which nothing is ever added to. */
const NO_CLAIMS: Readonly<ClaimsState> = { claims: [], unallocated: [], allocator: undefined, byNode: new Map(), obstacles: new Set() };

/** Pods that claim devices go where those can be had; the devices are allocated to them there. */
export const dynamicResources: PluginFactory = (_, handle): Plugin => {
  const { objects, client, clock } = handle;
  const selectors = new DeviceSelectors();
  const pending = new PendingAllocations(objects.resourceClaims);
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
      if (claims.length === 0) return { status: SKIP };
      const refusal = whyNotNow(pod, claims, { objects, pending });
      if (refusal !== undefined) return { status: refusal };
      state.write(NAME, prepared(claims, { handle, selectors, pending }));
      return undefined;
    },
    filter: (state, __, node) => checkNode(stateOf(state), node, clock.now()),
    postFilter(state, { uid }) {
      if (state.read(NAME) === undefined) return { status: failed(NAME, new Error('not found')) };
      return makeRoom(stateOf(state), uid, handle);
    },
    preScore: (state) => (hasAlternatives(stateOf(state)) ? undefined : SKIP),
    score: (state, __, { name }) => alternativesScore(stateOf(state), name),
    normalizeScores: (__, scores) => normalizeByMaximum(scores, false),
    reserve(state, __, node) {
      const { unallocated, byNode } = stateOf(state);
      const allocations = byNode.get(node.name) ?? [];
      if (allocations.length !== unallocated.length) return failed(NAME, new Error('claim allocation not found for node'));
      for (const [i, claim] of unallocated.entries()) pending.add(claim, allocations[i] as resource.AllocationResult);
      return undefined;
    },
    unreserve(state, { uid }) {
      const { claims, unallocated } = stateOf(state);
      for (const claim of unallocated) pending.delete(claim);
      for (const { metadata } of claims) {
        const claim = objects.resourceClaims.get(metadata);
        if (claim !== undefined && isReservedFor(claim, uid)) release(claim, uid, handle);
      }
    },
    willPreBind: (state) => stateOf(state).claims.length > 0,
    async preBind(state, pod, node) {
      const { claims, unallocated, byNode } = stateOf(state);
      const allocations = byNode.get(node.name) ?? [];
      try {
        for (const claim of claims.filter((one) => !isReservedFor(one, pod.uid))) {
          await bindClaim({ claim, allocation: allocations[unallocated.indexOf(claim)], pod }, { client, clock });
        }
        return await untilReady(claims, handle);
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

/** Why the pod can go to no node at the moment. */
function whyNotNow({ uid }: PodInfo, claims: readonly Claim[], { objects, pending }: Knowledge): Status | undefined {
  for (const claim of claims) {
    if (claim.status?.allocation !== undefined) {
      if (!isUsableBy(claim, uid)) return IN_USE;
      continue;
    }
    if (pending.has(claim)) return unresolvable(NAME, `resource claim ${keyOf(claim)} is in the process of being allocated`);
    for (const { name, deviceClassName } of classesAsked(claim)) {
      if (objects.deviceClasses.get({ name: deviceClassName }) === undefined) {
        return unresolvable(NAME, `request ${name}: device class ${deviceClassName} does not exist`);
      }
    }
  }
  return undefined;
}

function classesAsked({ spec }: Claim): readonly { readonly name: string; readonly deviceClassName: string }[] {
  return (spec.devices?.requests ?? []).flatMap(({ name, exactly, firstAvailable = [] }) => {
    if (exactly !== undefined) return [{ name, deviceClassName: exactly.deviceClassName }];
    return firstAvailable.map((one) => ({ name: `${name}/${one.name}`, deviceClassName: one.deviceClassName }));
  });
}

interface Preparation {
  readonly handle: PluginHandle;
  readonly selectors: DeviceSelectors;
  readonly pending: PendingAllocations;
}

function prepared(claims: readonly Claim[], { handle, selectors, pending }: Preparation): ClaimsState {
  const { objects, random } = handle;
  const unallocated = claims.filter(({ status }) => status?.allocation === undefined);
  const supply = () => ({
    slices: objects.resourceSlices.list(),
    allocated: pending.allocated(),
    selectors,
    random,
    classNamed: (name: string) => objects.deviceClasses.get({ name }),
  });
  const allocator = unallocated.length === 0 ? undefined : new DeviceAllocator(supply());
  return { claims, unallocated, allocator, byNode: new Map(), obstacles: new Set() };
}

function checkNode(state: ClaimsState, node: NodeInfo, now: number): Status | undefined {
  const { claims, unallocated, allocator, byNode, obstacles } = state;
  const unusable = claims.filter((claim) => !unallocated.includes(claim) && !isUsableOn(claim, node, now));
  try {
    const allocations = allocator?.allocate(unallocated, node);
    if (allocations !== undefined && 'reason' in allocations) return unresolvable(NAME, allocations.reason);
    if (unusable.length === 0) {
      byNode.set(node.name, allocations ?? []);
      return undefined;
    }
  } catch (error) {
    return failed(NAME, error);
  }
  for (const claim of unusable) obstacles.add(claim);
  return ELSEWHERE;
}

function isUsableOn(claim: Claim, node: NodeInfo, now: number): boolean {
  if (compileNodeSelector(claim.status?.allocation?.nodeSelector)?.matches(node) === false) return false;
  const readiness = readinessOf(claim);
  return readiness === 'ready' || (readiness === 'not-yet' && !isOverdue(claim, now, BINDING_TIMEOUT_MS));
}

/** Devices that nobody uses, in a place where the pod cannot be, are given back: it may get others. */
function makeRoom({ claims, obstacles }: ClaimsState, uid: string, { client }: PluginHandle): PostFilterResult {
  if (claims.length === 0) return { status: unschedulable(NAME, 'no new claims to deallocate') };
  const idle = [...obstacles].find(({ status }) => (status?.reservedFor ?? []).every((consumer) => consumer.uid === uid));
  if (idle === undefined) return { status: unschedulable(NAME, 'still not schedulable') };
  const cleanUp = async () => {
    await client.of(resource.ResourceClaim).updateStatus({ ...idle, status: {} });
  };
  return { status: unschedulable(NAME, 'deallocation of ResourceClaim completed'), cleanUp };
}

function hasAlternatives({ claims }: ClaimsState): boolean {
  return claims.some(({ spec }) => (spec.devices?.requests ?? []).some(({ firstAvailable = [] }) => firstAvailable.length > 0));
}

/** The more, the closer to what the claims would have liked best. */
function alternativesScore({ claims, unallocated, byNode }: ClaimsState, nodeName: string): number {
  const allocations = byNode.get(nodeName) ?? [];
  let score = 0;
  for (const claim of claims) {
    const allocation = claim.status?.allocation ?? allocations[unallocated.indexOf(claim)];
    const chosen = new Set((allocation?.devices?.results ?? []).map(({ request }) => request));
    for (const { name, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
      const rank = firstAvailable.findIndex((one) => chosen.has(`${name}/${one.name}`));
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

/** Waits for devices that must be got ready on the node first. */
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
