import { core } from '#api';
import { type Clock, type Logger, type Random, raceAbort } from '#base';
import { type Client, type EventRecorder, isFault, type Quarantine } from '#client';
import { findCondition, parseTime } from '#machinery';
import { RuntimeError } from '../cri/runtime.ts';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { PodMeasurements } from '../metrics/pod-measurements.ts';
import { PodProbes } from '../prober/pod-probes.ts';
import type { ProbeRequest } from '../prober/prober.ts';
import type { RequestLimits } from '../request-limits.ts';
import {
  type PodEviction,
  type PodRejection,
  type PodResources,
  podStatus,
  rejectedStatus,
  rejectionMessage,
  withReadySandbox,
} from '../status/pod-status.ts';
import { shareEqual } from '../status/share-equal.ts';
import { StatusWriter } from '../status/status-writer.ts';
import type { KubeletTracing } from '../tracing/kubelet-tracing.ts';
import { type PodActions, podActions } from './actions.ts';
import { type ApiObject, apiPod } from './api-object.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import { PodRejectedError } from './hooks/pod-rejected-error.ts';
import { PodContainers, type PodContainersDeps } from './pod-containers.ts';
import { PodEvents } from './pod-events.ts';
import { PodResize } from './pod-resize.ts';
import { type PodContainer, podText } from './pod-state.ts';
import { isRestartingAll } from './restart-all.ts';
import { specHash } from './start-container.ts';
import { WakeTimer } from './wake-timer.ts';

export interface PodWorkerDeps extends PodContainersDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  /** Shared by all pods of the node. */
  readonly quarantine: Quarantine;
  readonly runtimeName: string;
  /** The pod-level resource status; absent: not shown. */
  podResources?(pod: core.Pod, actual: core.Pod): PodResources;
  deviceHealth?(pod: core.Pod, container: core.Container): readonly core.ResourceStatus[];
  /** The kubelet's directory of a pod. */
  podDir(uid: string): string;
  /** Aborts when the kubelet stops: the worker stops and leaves everything as it is. */
  readonly signal: AbortSignal;
  readonly requestLimits?: RequestLimits | undefined;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: KubeletTracing | undefined;
  /** Why the node rejects the pod, if it does. Called once, before anything runs. */
  admit(pod: core.Pod): PodRejection | undefined;
  /** Why pods have no network, if so. */
  networkProblem(): Promise<string | undefined>;
  /** Why the node cannot give an admitted pod other resources, if so. */
  admitResize(desired: core.Pod, allocated: core.Pod): PodRejection | undefined;
  /** The pod needs less than before, or nothing any more: others may be waiting for that. */
  onFreed(): void;
  /** Allocates exclusive resources to an admitted pod, or returns the rejection. */
  allocate?(pod: core.Pod): Promise<PodRejection | undefined>;
  /** The pod object is gone, and everything of it was removed. */
  onRemoved(uid: string): void;
}

const DEFAULT_GRACE_SECONDS = 30;
const RETRY_MS = 10_000;
/** The maximum retry delay of a failing pod. */
const MAX_RETRY_MS = 300_000;
/** As upstream: the interval at which pods that wait for the network are retried. */
const NETWORK_RETRY_MS = 1_000;
/** As upstream: the interval at which deferred resizes are retried. */
const RESIZE_RETRY_MS = 180_000;
/** The grace period of a pod whose object disappeared without one. */
const ORPHAN_GRACE_SECONDS = 1;

// One file: the steps of a pod share its state; what they decide and do is in files of its own (actions.ts, pod-containers.ts, kill-pod.ts).
/**
 * Syncs one pod, one step after another: changes during a step are handled after it, in their latest state. Only
 * the pod's deletion interrupts a step.
 */
export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #events: PodEvents;
  readonly #object: ApiObject;
  readonly #status: StatusWriter;
  readonly #probes: PodProbes;
  readonly #containers: PodContainers;
  readonly #timer: WakeTimer;
  readonly #measurements: PodMeasurements;
  readonly #resize: PodResize;
  /** As the API has it. */
  #desired: core.Pod;
  /** With the resources that the node has given to it. */
  #pod: core.Pod;
  #reported: core.PodStatus;
  #rejection: PodRejection | undefined;
  #isAdmitted: boolean;
  #isRemoved = false;
  #isOver = false;
  #isDeleteSent = false;
  #isTerminating = false;
  #evictionGraceMs: number | undefined;
  #interrupt = new AbortController();
  #running: Promise<void> | undefined;
  #isDirty = false;
  /** A status came from the API during a step. */
  #isStatusUnchecked = false;

  /** `object`: the API object of the pod, if it is not the pod itself. */
  constructor(pod: core.Pod, deps: PodWorkerDeps, object?: ApiObject) {
    this.#deps = deps;
    this.#events = new PodEvents(deps.recorder, () => this.#pod);
    this.#resize = new PodResize(pod, { clock: deps.clock, events: this.#events });
    this.#desired = pod;
    this.#pod = this.#resize.allocated(pod);
    this.#measurements = new PodMeasurements(deps, () => this.#pod);
    this.#object = object ?? apiPod(pod, () => this.#pod, deps.client);
    this.#reported = pod.status ?? {};
    // Pods with a start time were admitted by an earlier kubelet.
    this.#isAdmitted = pod.status?.startTime !== undefined;
    this.#status = new StatusWriter(this.#object.current() ?? pod, deps, object && (() => object.current()));
    this.#timer = new WakeTimer(deps.clock, () => this.wake());
    this.#containers = new PodContainers(
      {
        ...{ events: this.#events, pod: () => this.#pod, reported: () => this.#reported, context: () => this.#context() },
        wakeAt: (timeMs) => this.#timer.at(timeMs),
      },
      deps,
    );
    this.#probes = new PodProbes({
      clock: deps.clock,
      logger: deps.logger,
      probe: (container, request) => this.#probe(container, request),
      events: this.#events,
      onChange: () => this.#onProbeChange(),
    });
    deps.hooks.observe(this.#pod);
    this.wake();
  }

  get pod(): core.Pod {
    return this.#pod;
  }

  /** Whether its requests count on the node. */
  get isActive(): boolean {
    return (
      this.#isAdmitted && !this.#isRemoved && this.#rejection === undefined && !this.#isOver && !core.isTerminalPhase(this.#reported.phase)
    );
  }

  /** As last reported. */
  get status(): core.PodStatus {
    return this.#reported;
  }

  /** Called with a newer state from the API. */
  update(pod: core.Pod): void {
    const before = this.#desired;
    const wasOwnWrite = pod.metadata.generation === before.metadata.generation && !specOrDeletionChanged(before, pod);
    this.#desired = pod;
    this.#settleResize();
    const object = this.#object.current();
    if (object !== undefined) this.#status.observe(object);
    this.#measurements.observe(this.#pod);
    this.#deps.hooks.observe(this.#pod);
    // The first deletion sets the grace period, and leaves the preStop hook its time; only a later one shortens it.
    if (before.metadata.deletionTimestamp !== undefined && graceSeconds(pod) < graceSeconds(before))
      this.#shortenGracePeriod(graceSeconds(pod));
    if (pod.metadata.deletionTimestamp !== undefined) this.#interrupt.abort();
    if (!wasOwnWrite) this.wake();
    else this.#resyncStatus();
  }

  /** The API object was replaced, changed or deleted. */
  observeObject(): void {
    const object = this.#object.current();
    if (object === undefined) return;
    this.#status.retarget(object);
    this.#status.want(this.#reported);
  }

  /** Evicts the pod. False when it has terminated, or is about to. */
  evict(eviction: PodEviction): boolean {
    if (!this.isActive) return false;
    this.#rejection = eviction;
    this.#evictionGraceMs = eviction.graceSeconds * 1000;
    const { reason, message, annotations } = eviction;
    if (eviction.isReported !== false) this.#events.record({ type: 'Warning', reason, message, ...(annotations && { annotations }) });
    this.#interrupt.abort();
    this.wake();
    return true;
  }

  /** A resize waits for room on the node. */
  get resize(): PodResize {
    return this.#resize;
  }

  /** As the API has it, with resources that the node may not have given to it yet. */
  get desired(): core.Pod {
    return this.#desired;
  }

  /** Other pods have made room. */
  retryResize(): void {
    this.#settleResize();
    this.wake();
  }

  #settleResize(): void {
    if (this.isActive && this.#desired.metadata.deletionTimestamp === undefined)
      this.#resize.settle(this.#desired, (desired) => this.#deps.admitResize(desired, this.#pod));
    this.#pod = this.#resize.allocated(this.#desired);
  }

  /** The pod has terminated for good. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The API object was deleted. */
  remove(): void {
    this.#isRemoved = true;
    this.#interrupt.abort();
    this.wake();
  }

  /** Requests a sync that reads the state from the runtime. */
  wake(): void {
    this.#containers.invalidate();
    this.#sync();
  }

  #sync(): void {
    if (this.#deps.signal.aborted) return;
    this.#isDirty = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isDirty) this.#sync();
      else if (this.#isStatusUnchecked) this.#resyncStatus();
    });
  }

  /** Resolves when no step is in progress and the status is written. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#status.flushed();
  }

  /** Stops the worker; containers keep running. */
  stop(): void {
    this.#interrupt.abort();
    this.#probes.stop();
    this.#timer.cancel();
  }

  async #run(): Promise<void> {
    while (this.#isDirty && !this.#deps.signal.aborted) {
      this.#isDirty = false;
      try {
        // A stopping kubelet does not wait for containers.
        await raceAbort(this.#stepMeasured(), this.#deps.signal);
        if (!this.#isDirty) this.#deps.quarantine.succeeded(this.#pod.metadata.uid ?? '');
      } catch (error) {
        this.#onError(error);
      }
    }
    // An idle pod needs no signal, which takes half a kilobyte once used. A step that a stopping kubelet does not wait for still needs it.
    if (!this.#interrupt.signal.aborted && !this.#deps.signal.aborted) this.#interrupt = new AbortController();
  }

  #stepMeasured(): Promise<void> {
    return this.#measurements.step(() => this.#stepTraced(), { isRemoved: this.#isRemoved, phase: () => this.#reported.phase });
  }

  #stepTraced(): Promise<void> {
    const { tracing } = this.#deps;
    if (tracing === undefined) return this.#step();
    const isTerminating = this.#pod.metadata.deletionTimestamp !== undefined;
    const name = this.#isRemoved ? 'syncTerminatedPod' : isTerminating ? 'syncTerminatingPod' : 'syncPod';
    return tracing.podStep(name, this.#pod, () => this.#step());
  }

  #onError(error: unknown): void {
    const { signal, logger, clock } = this.#deps;
    if (signal.aborted) return;
    if (this.#interrupt.signal.aborted) {
      if (error !== this.#interrupt.signal.reason)
        logger.info('a pod sync that a deletion interrupted failed', { pod: podText(this.#pod), error });
      this.#interrupt = new AbortController();
      this.#isDirty = true;
      return;
    }
    this.#timer.at(clock.now() + this.#retryMs(error));
  }

  #retryMs(error: unknown): number {
    const { quarantine, logger } = this.#deps;
    if (!isFault(error) || (error instanceof RuntimeError && error.code === 'unavailable')) {
      logger.warn('syncing a pod failed; retrying', { pod: podText(this.#pod), error });
      return RETRY_MS;
    }
    const about = () => ({ kind: 'Pod', apiVersion: 'v1', ...this.#pod });
    const { failures, isQuarantined } = quarantine.failed({ key: this.#pod.metadata.uid ?? '', error, about });
    return isQuarantined ? Math.min(RETRY_MS * failures, MAX_RETRY_MS) : RETRY_MS;
  }

  async #step(): Promise<void> {
    if (this.#isRemoved) return this.#cleanUp();
    if (this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    if (this.#isOver) return;
    if (!this.#isAdmitted && !(await this.#admit())) return;
    await this.#containers.lookAgain();
    await this.#containers.stopStraySandboxes();
    this.#probes.follow(this.#pod, this.#containers.state);
    this.#checkDeadline();
    if (this.#rejection !== undefined || core.isTerminalPhase(this.#pod.status?.phase)) return this.#end();
    if (isRestartingAll(this.#pod, this.#containers.state, this.#reported)) return this.#restartAll();
    const actions = this.#actions();
    if (actions.isOver) return this.#end();
    await this.#resizeContainers();
    this.#report(false);
    if (await this.#perform(actions)) this.#isDirty = true;
  }

  async #resizeContainers(): Promise<void> {
    if (this.#resize.isDeferred) this.#timer.at(this.#deps.clock.now() + RESIZE_RETRY_MS);
    try {
      if (await this.#containers.resize(this.#graceMs(), this.#resize.isInProgress)) this.#isDirty = true;
    } catch (error) {
      if (this.#interrupt.signal.aborted || this.#deps.signal.aborted) throw error;
      this.#resize.failed(this.#pod, (error as Error).message);
      this.#timer.at(this.#deps.clock.now() + RETRY_MS);
      return;
    }
    if (!this.#resize.isInProgress) return;
    this.#resize.completed(this.#pod);
    this.#deps.onFreed();
  }

  #context(): PodContext {
    const uid = this.#pod.metadata.uid ?? '';
    return { pod: this.#pod, uid, podDir: this.#deps.podDir(uid), events: this.#events, signal: this.#interrupt.signal };
  }

  async #admit(): Promise<boolean> {
    const isTerminal = core.isTerminalPhase(this.#pod.status?.phase);
    const problem = isTerminal ? undefined : this.#deps.admit(this.#pod);
    if (problem !== undefined) return this.#reject(problem);
    // Counts as admitted while its resources are being allocated.
    this.#isAdmitted = true;
    this.#resize.admitted(this.#pod);
    const rejection = isTerminal ? undefined : await this.#deps.allocate?.(this.#pod);
    return rejection === undefined || this.#reject(rejection);
  }

  #reject(rejection: PodRejection): false {
    this.#isAdmitted = false;
    this.#isOver = true;
    this.#rejection = { ...rejection, message: rejectionMessage(rejection) };
    this.#events.warning(undefined, rejection.reason, rejection.message);
    this.#reported = rejectedStatus(this.#pod, rejection, this.#deps.clock.now());
    this.#status.want(this.#reported);
    return false;
  }

  #checkDeadline(): void {
    const { activeDeadlineSeconds } = this.#pod.spec ?? {};
    const startTime = this.#reported.startTime ?? this.#pod.status?.startTime;
    if (activeDeadlineSeconds === undefined || this.#rejection !== undefined) return;
    const { clock } = this.#deps;
    const dueMs = (startTime === undefined ? clock.now() : parseTime(startTime)) + activeDeadlineSeconds * 1000;
    if (clock.now() < dueMs) {
      this.#timer.at(dueMs);
      return;
    }
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#rejection = { reason: 'DeadlineExceeded', message };
    this.#events.normal(undefined, 'DeadlineExceeded', message);
  }

  async #restartAll(): Promise<void> {
    this.#report(false);
    await this.#containers.resetAll();
    this.#report(false);
    this.#isDirty = true;
  }

  #actions(): PodActions {
    return podActions({
      pod: this.#pod,
      state: this.#containers.state,
      hasStarted: (id) => this.#probes.hasStarted(id),
      probeFailure: (id) => this.#probes.failure(id),
      specHash,
    });
  }

  /** True when something was done, so that the next step follows. */
  async #perform(actions: PodActions): Promise<boolean> {
    const starts = [...actions.startEphemeral, ...actions.start];
    if (actions.createSandbox || starts.length > 0) {
      if (await this.#waitsForNetwork()) return false;
      if (!(await this.#prepare())) return false;
    }
    if (actions.createSandbox) {
      await this.#containers.createSandbox(this.#graceMs());
      this.#reportSandbox();
      return this.#perform(this.#actions());
    }
    await Promise.all(
      actions.kill.map(({ container, message, probe }) => this.#containers.kill(container, this.#probeGraceMs(container, probe), message)),
    );
    this.#deps.signal.throwIfAborted();
    let hasActed = actions.kill.length > 0;
    for (const container of starts) if (await this.#containers.start(container)) hasActed = true;
    if (!hasActed && starts.length > 0) this.#report(false);
    return hasActed;
  }

  /** As upstream: while the network of pods is not ready, only pods in the host's start. */
  async #waitsForNetwork(): Promise<boolean> {
    const problem = this.#pod.spec?.hostNetwork === true ? undefined : await this.#deps.networkProblem();
    if (problem === undefined) return false;
    this.#events.warning(undefined, 'NetworkNotReady', `network is not ready: ${problem}`);
    this.#timer.at(this.#deps.clock.now() + NETWORK_RETRY_MS);
    return true;
  }

  /** False when the pod cannot start on this node: it has failed. */
  async #prepare(): Promise<boolean> {
    const prepared = this.#deps.hooks.prepare(this.#context());
    this.#status.hold(prepared);
    try {
      await prepared;
      return true;
    } catch (error) {
      if (!(error instanceof PodRejectedError)) throw error;
      const { rejection } = error;
      this.#events.warning(undefined, rejection.reason, rejection.message);
      this.#rejection = { ...rejection, message: rejectionMessage(rejection) };
      await this.#end();
      return false;
    }
  }

  /** As upstream: PodReadyToStartContainers is reported at once, the address only with the first containers. */
  #reportSandbox(): void {
    const { clock } = this.#deps;
    if (this.#containers.state.sandbox?.isReady !== true) return;
    this.#reported = withReadySandbox(this.#reported, this.#pod, clock.now());
    this.#status.want(this.#reported);
  }

  /** Stops the remaining containers of a pod that stays as an object. */
  async #end(): Promise<void> {
    this.#interrupt = new AbortController();
    // Reported while the sandbox still has its address.
    this.#report(false);
    await this.#killAll(this.#graceMs());
    this.#isOver = true;
    this.#timer.cancel();
    this.#report(true);
    this.#deps.onFreed();
    await this.#deps.hooks.postStop(this.#context());
  }

  async #terminate(): Promise<void> {
    if (this.#isDeleteSent) return;
    this.#interrupt = new AbortController();
    await this.#containers.look();
    if (!this.#isOver) {
      this.#probes.stopJudging();
      this.#report(false);
      this.#isTerminating = true;
      await this.#killAll(this.#graceMs());
      this.#isTerminating = false;
      this.#isOver = true;
      this.#deps.onFreed();
    }
    this.#report(true);
    await this.#deps.hooks.postStop(this.#context());
    await this.#status.flushed();
    this.#deps.signal.throwIfAborted();
    await this.#object.remove();
    this.#isDeleteSent = true;
  }

  async #cleanUp(): Promise<void> {
    const { runtime, hooks, onRemoved } = this.#deps;
    const uid = this.#pod.metadata.uid ?? '';
    await this.#containers.look();
    this.#interrupt = new AbortController();
    const { deletionGracePeriodSeconds = ORPHAN_GRACE_SECONDS } = this.#pod.metadata;
    if (!this.#isOver) await this.#killAll(deletionGracePeriodSeconds * 1000);
    await hooks.postStop(this.#context());
    for (const { id } of this.#containers.state.sandboxes) await runtime.removePodSandbox(id);
    await hooks.cleanUp(this.#context());
    this.stop();
    this.#measurements.forget();
    onRemoved(uid);
  }

  async #killAll(graceMs: number): Promise<void> {
    await this.#containers.killAll(graceMs);
    this.#probes.stop();
    await this.#containers.look();
  }

  #graceMs(): number {
    return this.#evictionGraceMs ?? graceSeconds(this.#pod) * 1000;
  }

  /** The grace period was shortened: containers that are being stopped are notified. */
  #shortenGracePeriod(seconds: number): void {
    const { runtime, logger } = this.#deps;
    for (const { id, state } of this.#containers.state.containers) {
      if (state === 'running') runtime.stopContainer(id, seconds * 1000).catch((error: unknown) => logger.warn('cannot stop', { error }));
    }
  }

  /** A terminating pod's step is in progress, but its readiness is still reported. */
  #onProbeChange(): void {
    if (this.#isTerminating) this.#report(false);
    else this.wake();
  }

  async #probe({ id, name }: PodContainer, request: ProbeRequest) {
    // As upstream, which stops exec probes when the pod terminates.
    if (this.#isTerminating && request.probe.exec !== undefined) throw new RuntimeError('cancelled', 'context canceled');
    const target = { containerId: id, container: this.#containers.specOf(name) ?? { name }, podIp: this.#containers.podIp() };
    return this.#measurements.probe(name, request, () => this.#deps.prober.probe(target, request));
  }

  #probeGraceMs({ name }: PodContainer, probe: 'liveness' | 'startup' | undefined): number {
    const spec = this.#containers.specOf(name);
    const failedProbe = probe === 'liveness' ? spec?.livenessProbe : probe === 'startup' ? spec?.startupProbe : undefined;
    return (failedProbe?.terminationGracePeriodSeconds ?? this.#pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  }

  /**
   * Writes the reported status again where the API shows another one: others wrote it, or the kubelet was down. No reason for
   * another step: one that fails with a new message each time would follow itself without a pause.
   */
  #resyncStatus(): void {
    this.#isStatusUnchecked = this.#running !== undefined;
    if (this.#isStatusUnchecked || this.#isRemoved) return;
    this.#reported = shareEqual(this.#reported, this.#pod.status);
    this.#status.want(this.#reported);
  }

  #report(isTerminal: boolean): void {
    const { runtimeName, hostIps, clock } = this.#deps;
    if (isTerminal) this.#resize.ended();
    const status = podStatus({
      ...{ pod: this.#pod, previous: this.#reported, state: this.#containers.state, waiting: this.#containers.restarts.waiting },
      ...{ isTerminal, runtimeName, hostIps, rejection: this.#rejection, nowMs: clock.now() },
      resources: this.#deps.podResources?.(this.#pod, this.#resize.isInProgress ? this.#containers.actual() : this.#pod),
      resizes: this.#resize.conditions,
      appliedResources: (id) => (this.#resize.isInProgress ? this.#containers.appliedResources(id) : undefined),
      deviceHealth: (container) => this.#deps.deviceHealth?.(this.#pod, container) ?? [],
      hasStarted: (id) => this.#probes.hasStarted(id),
      isReady: (id) => this.#probes.isReady(id),
    });
    this.#measurements.report(this.#reported, status);
    this.#reported = status;
    this.#status.want(status);
  }
}

function specOrDeletionChanged(before: core.Pod, after: core.Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  const { metadata } = after;
  if (deletionTimestamp !== metadata.deletionTimestamp || deletionGracePeriodSeconds !== metadata.deletionGracePeriodSeconds) return true;
  // Some servers do not set the generation of pods.
  if (before.spec !== after.spec || core.isTerminalPhase(after.status?.phase) !== core.isTerminalPhase(before.status?.phase)) return true;
  return (after.spec?.readinessGates ?? []).some(({ conditionType }) => gateOf(before, conditionType) !== gateOf(after, conditionType));
}

function gateOf({ status }: core.Pod, type: string): string | undefined {
  return findCondition(status?.conditions, type)?.status;
}

function graceSeconds({ metadata, spec }: core.Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}
