import type { core, policy, resource, storage } from '#api';
import type { Clock, Logger, Random } from '#base';
import type { Client, Lister } from '#client';
import type { Labels } from '#machinery';
import type { NamespaceLabels } from './affinity-term.ts';
import type { EventInterest } from './cluster-event.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { Snapshot } from './snapshot.ts';
import type { Status } from './status.ts';

/**
 * A plugin takes part in scheduling by the methods it has; every extension point of upstream's framework is one. Before Reserve all of them are
 * synchronous and change only the cycle's state, so that a placement is a function of the snapshot, the pod and randomness.
 */
export interface Plugin {
  readonly name: string;
  /** Which changes of the cluster may make pods schedulable that this plugin rejected. Absent: any change. */
  readonly events?: readonly EventInterest[];
  /** Whether the pod may enter the active queue. */
  preEnqueue?(pod: PodInfo): Status | undefined;
  /** Negative when `a` is to be scheduled before `b`. */
  compare?(a: QueuePosition, b: QueuePosition): number;
  /**
   * The parts of the pod that `filter` and `score` depend on, as JSON. Both must depend on nothing else but the node, and
   * skipping them only on this: results are reused for pods with the same signature.
   */
  sign?(pod: PodInfo): unknown;
  preFilter?(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterResult | undefined;
  /** Updates the state of `preFilter` for a pod that is added to, or removed from, a node in a simulation. */
  addPod?(state: CycleState, pod: PodInfo, change: TrialChange): void;
  removePod?(state: CycleState, pod: PodInfo, change: TrialChange): void;
  filter?(state: CycleState, pod: PodInfo, node: NodeInfo): Status | undefined;
  postFilter?(state: CycleState, pod: PodInfo, context: PostFilterContext): PostFilterResult;
  preScore?(state: CycleState, pod: PodInfo, context: PreScoreContext): Status | undefined;
  /** 0 to 100 after `normalizeScores`. */
  score?(state: CycleState, pod: PodInfo, node: NodeInfo): number;
  /** In place, one score per node. */
  normalizeScores?(state: CycleState, scores: Float64Array, nodes: readonly NodeInfo[]): void;
  reserve?(state: CycleState, pod: PodInfo, node: NodeInfo): Status | undefined;
  /** Reverts `reserve`, even if that did not run or failed. */
  unreserve?(state: CycleState, pod: PodInfo, node: NodeInfo): void;
  permit?(state: CycleState, pod: PodInfo, node: NodeInfo): PermitResult | undefined;
  /** Whether `preBind` has something to do for this pod. Absent: yes. */
  willPreBind?(state: CycleState, pod: PodInfo, node: NodeInfo): boolean;
  preBind?(state: CycleState, pod: PodInfo, node: NodeInfo): Promise<Status | undefined>;
  /** Skip leaves the binding to the next plugin. */
  bind?(state: CycleState, pod: PodInfo, node: NodeInfo): Promise<Status | undefined>;
  postBind?(state: CycleState, pod: PodInfo, node: NodeInfo): void;
}

export interface QueuePosition {
  readonly info: PodInfo;
  /** When it was last put into a queue, in milliseconds. */
  readonly queuedAt: number;
}

export interface PreFilterResult {
  readonly status?: Status;
  /** Other nodes need not be evaluated. */
  readonly nodeNames?: ReadonlySet<string>;
}

export interface TrialChange {
  readonly pod: PodInfo;
  readonly node: NodeInfo;
}

export interface PostFilterContext {
  readonly snapshot: Snapshot;
  readonly diagnosis: Diagnosis;
  /** Whether the pod passes all filters on a node, with those nominated to it counted. */
  fits(state: CycleState, node: NodeInfo): Status | undefined;
  /** Notifies the plugins of a pod that is added to, or removed from, the node in a simulation. */
  addPod(state: CycleState, change: TrialChange): void;
  removePod(state: CycleState, change: TrialChange): void;
  /** The candidates that extenders leave. Absent: all. */
  reviewCandidates?(candidates: readonly PreemptionCandidate[]): readonly PreemptionCandidate[];
}

/** A node where preemption would make the pod fit. */
export interface PreemptionCandidate {
  readonly node: NodeInfo;
  readonly victims: PreemptionVictims;
}

export interface PreemptionVictims {
  /** The most important first. */
  readonly pods: readonly PodInfo[];
  /** The number of victims that violate a PodDisruptionBudget. */
  readonly violations: number;
}

export interface PostFilterResult {
  /** Undefined: preemption helps. */
  readonly status: Status | undefined;
  /** The node to nominate; '' clears the nomination, undefined keeps it. */
  readonly nominatedNode?: string;
  readonly victims?: readonly PodInfo[];
  /** API writes that make the pod schedulable otherwise. */
  cleanUp?(): Promise<void>;
}

export interface PreScoreContext {
  readonly snapshot: Snapshot;
  /** The nodes that passed all filters. */
  readonly nodes: readonly NodeInfo[];
}

export interface PermitResult {
  readonly status: Status | undefined;
  /** With status Wait: the time limit. */
  readonly timeoutMs: number;
}

/** What plugins use beyond their arguments. */
export interface PluginHandle {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly objects: ClusterObjects;
  readonly namespaces: NamespaceLabels;
  /** Calls with every claim that is added, changed or deleted, for as long as the scheduler runs. */
  onClaimChange(listener: (claim: core.PersistentVolumeClaim) => void): void;
  /** Aborts when the scheduler stops. */
  readonly signal: AbortSignal;
  /** The scheduler's name in events and conditions. */
  readonly schedulerName: string;
}

export interface ClusterObjects {
  readonly pods: Lister<core.Pod>;
  readonly services: Lister<core.Service>;
  readonly claims: Lister<core.PersistentVolumeClaim>;
  readonly volumes: Lister<core.PersistentVolume>;
  readonly storageClasses: Lister<storage.StorageClass>;
  readonly csiNodes: Lister<storage.CSINode>;
  readonly csiDrivers: Lister<storage.CSIDriver>;
  readonly csiStorageCapacities: Lister<storage.CSIStorageCapacity>;
  readonly volumeAttachments: Lister<storage.VolumeAttachment>;
  readonly resourceClaims: Lister<resource.ResourceClaim>;
  readonly resourceSlices: Lister<resource.ResourceSlice>;
  readonly deviceClasses: Lister<resource.DeviceClass>;
  readonly disruptionBudgets: Lister<policy.PodDisruptionBudget>;
  /** The selector of a pod's controller, when it is one that selects pods. */
  ownerSelector(pod: core.Pod): OwnerSelector | undefined;
}

export interface OwnerSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

/** Creates a plugin from its validated arguments. */
export type PluginFactory = (args: Readonly<Record<string, unknown>>, handle: PluginHandle) => Plugin;
