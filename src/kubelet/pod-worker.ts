import { core } from '#api';
import { type Clock, type Logger, type Random, raceAbort, type TimerHandle } from '#base';
import type { Client, EventRecorder } from '#client';
import { formatDurationMs, isStatusReason, parseTime } from '#machinery';
import { type ContainerDeps, killContainer, specHash, startContainer } from './container-lifecycle.ts';
import type { ContainerStatus, ProbeAnswer, ProbeRequest, SandboxConfig } from './cri/runtime.ts';
import { type PodActions, podActions } from './pod-actions.ts';
import { PodEvents } from './pod-events.ts';
import { isSidecar, isTerminalPhase, latestContainer, NO_STATE, type PodState, podText, readPodState } from './pod-state.ts';
import type { ProbeTarget } from './probes/network-prober.ts';
import { PodProbes } from './probes/pod-probes.ts';
import type { RequestLanes } from './request-lanes.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import { StartFailure } from './start-failure.ts';
import type { WaitingReason } from './status/container-statuses.ts';
import { type PodVerdict, podStatus, rejectedStatus } from './status/pod-status.ts';
import { StatusWriter } from './status/status-writer.ts';

export interface PodWorkerDeps extends ContainerDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly restartBackoff: RestartBackoff;
  readonly runtimeName: string;
  readonly hostIps: readonly string[];
  /** Aborts when the kubelet stops: the worker does nothing any more, and leaves everything as it is. */
  readonly signal: AbortSignal;
  readonly lanes?: RequestLanes | undefined;
  /** Why the node does not take the pod, if it does not. Asked once, before anything runs. */
  admit(pod: core.Pod): PodVerdict | undefined;
  probe(target: ProbeTarget, request: ProbeRequest): Promise<ProbeAnswer>;
  /** The pod is gone from the API, and nothing of it is left here. */
  onGone(uid: string): void;
}

const DEFAULT_GRACE_SECONDS = 30;
const RETRY_MS = 10_000;
/** How long a pod whose object is gone is given when nobody said. */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * Brings one pod in order, one step after another: whatever happens meanwhile is looked at when the step is done, in its latest state. Only
 * the wish to end the pod interrupts a step.
 */
export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #events: PodEvents;
  readonly #status: StatusWriter;
  readonly #probes: PodProbes;
  readonly #waiting = new Map<string, WaitingReason>();
  readonly #toldBackoff = new Map<string, number>();
  #pod: core.Pod;
  #state: PodState = NO_STATE;
  #reported: core.PodStatus;
  #verdict: PodVerdict | undefined;
  #isAdmitted: boolean;
  #isRemoved = false;
  #isOver = false;
  #isDeleteSent = false;
  #interrupt = new AbortController();
  #running: Promise<void> | undefined;
  #isDirty = false;
  #timer: TimerHandle | undefined;
  #timerAtMs = Infinity;

  constructor(pod: core.Pod, deps: PodWorkerDeps) {
    this.#deps = deps;
    this.#pod = pod;
    this.#reported = pod.status ?? {};
    // What ran before this kubelet did was admitted then.
    this.#isAdmitted = pod.status?.startTime !== undefined;
    this.#events = new PodEvents(deps.recorder, () => this.#pod);
    this.#status = new StatusWriter(pod, deps);
    this.#probes = new PodProbes({
      clock: deps.clock,
      ask: ({ id, name }, request) => this.#probe(id, name, request),
      onFailure: ({ name }, type, output) => {
        const title = type.charAt(0).toUpperCase() + type.slice(1);
        this.#events.warning(name, 'Unhealthy', `${title} probe failed: ${output}`);
      },
      onChange: () => this.wake(),
    });
    this.wake();
  }

  get pod(): core.Pod {
    return this.#pod;
  }

  /** Takes part in the sums of what the node has given away. */
  get isActive(): boolean {
    return this.#isAdmitted && this.#verdict === undefined && !this.#isOver && !isTerminalPhase(this.#reported.phase);
  }

  /** As last reported. */
  get status(): core.PodStatus {
    return this.#reported;
  }

  /** The API told of a newer state. */
  update(pod: core.Pod): void {
    const wasOwnWrite = pod.metadata.generation === this.#pod.metadata.generation && !isNewWish(this.#pod, pod);
    const before = this.#pod;
    this.#pod = pod;
    this.#status.observe(pod);
    if (graceSeconds(pod) < graceSeconds(before) && pod.metadata.deletionTimestamp !== undefined) this.#hurry(graceSeconds(pod));
    if (pod.metadata.deletionTimestamp !== undefined) this.#interrupt.abort();
    if (!wasOwnWrite || this.#isOutOfStep()) this.wake();
  }

  /** The API has it no more. */
  remove(): void {
    this.#isRemoved = true;
    this.#interrupt.abort();
    this.wake();
  }

  /** Something may have to be done. */
  wake(): void {
    if (this.#deps.signal.aborted) return;
    this.#isDirty = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isDirty) this.wake();
    });
  }

  /** Resolves when no step is under way and what was reported is written. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#status.flushed();
  }

  /** Stops looking after the pod; what runs goes on. */
  stop(): void {
    this.#interrupt.abort();
    this.#probes.stop();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #run(): Promise<void> {
    while (this.#isDirty && !this.#deps.signal.aborted) {
      this.#isDirty = false;
      try {
        // A kubelet that stops does not wait for containers to end.
        await raceAbort(this.#step(), this.#deps.signal);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #onError(error: unknown): void {
    const { signal, logger, clock } = this.#deps;
    if (signal.aborted) return;
    if (this.#interrupt.signal.aborted) {
      this.#interrupt = new AbortController();
      this.#isDirty = true;
      return;
    }
    logger.warn('a pod could not be brought in order; trying again', { pod: podText(this.#pod), error });
    this.#wakeAt(clock.now() + RETRY_MS);
  }

  async #step(): Promise<void> {
    if (this.#isRemoved) return this.#cleanUp();
    if (this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    if (this.#isOver) return;
    if (!this.#isAdmitted && !this.#admit()) return;
    await this.#look();
    await this.#stopStraySandboxes();
    this.#probes.follow(this.#pod, this.#state);
    this.#checkDeadline();
    if (this.#verdict !== undefined || isTerminalPhase(this.#pod.status?.phase)) return this.#end();
    const actions = this.#actions();
    if (actions.isOver) return this.#end();
    this.#report(false);
    if (await this.#perform(actions)) this.#isDirty = true;
  }

  /** Reads what the runtime knows. Throws when the kubelet has stopped meanwhile: whoever comes after it looks after the pod. */
  async #look(): Promise<void> {
    const state = await readPodState(this.#deps.runtime, this.#pod.metadata.uid ?? '');
    this.#deps.signal.throwIfAborted();
    this.#state = state;
  }

  /** A sandbox that a stopped kubelet had asked for may come to life after its successor's. */
  async #stopStraySandboxes(): Promise<void> {
    const [, ...others] = this.#state.sandboxes;
    for (const { id, isReady } of others) if (isReady) await this.#deps.runtime.stopPodSandbox(id);
  }

  #admit(): boolean {
    const verdict = isTerminalPhase(this.#pod.status?.phase) ? undefined : this.#deps.admit(this.#pod);
    if (verdict === undefined) {
      this.#isAdmitted = true;
      return true;
    }
    this.#isOver = true;
    this.#verdict = verdict;
    this.#events.warning(undefined, verdict.reason, verdict.message);
    this.#reported = rejectedStatus(this.#pod, verdict, this.#deps.clock.now());
    this.#status.want(this.#reported);
    return false;
  }

  #checkDeadline(): void {
    const { activeDeadlineSeconds } = this.#pod.spec ?? {};
    const startTime = this.#reported.startTime ?? this.#pod.status?.startTime;
    if (activeDeadlineSeconds === undefined || this.#verdict !== undefined) return;
    const { clock } = this.#deps;
    const dueMs = (startTime === undefined ? clock.now() : parseTime(startTime)) + activeDeadlineSeconds * 1000;
    if (clock.now() < dueMs) {
      this.#wakeAt(dueMs);
      return;
    }
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#verdict = { reason: 'DeadlineExceeded', message };
    this.#events.normal(undefined, 'DeadlineExceeded', message);
  }

  #actions(): PodActions {
    return podActions({
      pod: this.#pod,
      state: this.#state,
      hasStarted: (id) => this.#probes.hasStarted(id),
      probeFailure: (id) => this.#probes.failure(id),
      specHash,
    });
  }

  /** True when something was done, so that the next step is due. */
  async #perform(actions: PodActions): Promise<boolean> {
    if (actions.createSandbox) {
      await this.#createSandbox();
      return true;
    }
    await Promise.all(
      actions.kill.map(({ container, message, probe }) => this.#kill(container, this.#probeGraceMs(container, probe), message)),
    );
    this.#deps.signal.throwIfAborted();
    let hasActed = actions.kill.length > 0;
    for (const container of [...actions.start, ...actions.startEphemeral]) {
      if (await this.#start(container)) hasActed = true;
    }
    if (!hasActed && actions.start.length > 0) this.#report(false);
    return hasActed;
  }

  async #createSandbox(): Promise<void> {
    const { runtime } = this.#deps;
    const old = this.#state.sandbox;
    if (old !== undefined) {
      this.#events.normal(undefined, 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
      await runtime.stopPodSandbox(old.id);
    }
    try {
      await runtime.runPodSandbox(sandboxConfig(this.#pod, (old?.config.attempt ?? -1) + 1));
    } catch (error) {
      this.#events.warning(undefined, 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      throw error;
    }
  }

  async #start(container: core.Container): Promise<boolean> {
    const { name } = container;
    const last = latestContainer(this.#state, name);
    if (last?.state === 'exited' && this.#isBackingOff(container, last)) return false;
    const attempt = await this.#nextAttempt(name, last);
    const { sandbox } = this.#state;
    if (sandbox === undefined) return false;
    try {
      const request = { pod: this.#pod, container, attempt, sandbox, events: this.#events, signal: this.#interrupt.signal };
      await startContainer(request, this.#deps);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      this.#waiting.set(name, { reason: error.reason, message: error.message });
      this.#wakeAt(error.retryAtMs ?? this.#deps.clock.now() + RETRY_MS);
      return false;
    }
    this.#waiting.delete(name);
    await this.#removeDead(name);
    return true;
  }

  async #nextAttempt(name: string, last: ContainerStatus | undefined): Promise<number> {
    const { runtime } = this.#deps;
    if (last?.state === 'created') {
      // Left by a kubelet that stopped in between. It may still be starting: it must not, beside its successor.
      await runtime.stopContainer(last.id, 0);
      await runtime.removeContainer(last.id);
      return last.attempt;
    }
    if (last !== undefined) return last.attempt + 1;
    const known = [...(this.#reported.containerStatuses ?? []), ...(this.#reported.initContainerStatuses ?? [])];
    return known.find((status) => status.name === name)?.restartCount ?? 0;
  }

  /** Only the last one that ended is kept, for its log and its state. */
  async #removeDead(name: string): Promise<void> {
    const dead = this.#state.containers.filter((container) => container.name === name && container.state !== 'running');
    for (const { id } of dead.slice(1)) await this.#deps.runtime.removeContainer(id);
  }

  #isBackingOff({ name }: core.Container, last: ContainerStatus): boolean {
    const { restartBackoff } = this.#deps;
    const key = `${this.#pod.metadata.uid}/${name}`;
    const endedMs = last.finishedAtMs ?? last.createdAtMs;
    const untilMs = restartBackoff.blockedUntil(key, endedMs);
    if (untilMs === undefined) {
      restartBackoff.next(key, endedMs);
      return false;
    }
    if (this.#toldBackoff.get(name) !== endedMs) {
      this.#events.warning(name, 'BackOff', `Back-off restarting failed container ${name} in pod ${podText(this.#pod)}`);
    }
    this.#toldBackoff.set(name, endedMs);
    const delay = formatDurationMs(restartBackoff.delayMs(key));
    const message = `back-off ${delay} restarting failed container=${name} pod=${podText(this.#pod)}`;
    this.#waiting.set(name, { reason: 'CrashLoopBackOff', message });
    this.#wakeAt(untilMs);
    return true;
  }

  /** Nothing is to run any more, but the pod stays: what still runs is ended. */
  async #end(): Promise<void> {
    await this.#killAll(graceSeconds(this.#pod));
    this.#isOver = true;
    this.#timer?.cancel();
    this.#report(true);
  }

  async #terminate(): Promise<void> {
    if (this.#isDeleteSent) return;
    this.#interrupt = new AbortController();
    await this.#look();
    if (!this.#isOver) {
      this.#probes.stopJudging();
      this.#report(false);
      await this.#killAll(graceSeconds(this.#pod));
      this.#isOver = true;
    }
    this.#report(true);
    await this.#status.flushed();
    this.#deps.signal.throwIfAborted();
    await this.#deleteForGood();
  }

  async #deleteForGood(): Promise<void> {
    const { client } = this.#deps;
    const { uid } = this.#pod.metadata;
    try {
      await client.of(core.Pod).delete(this.#pod.metadata, { gracePeriodSeconds: 0, ...(uid && { preconditions: { uid } }) });
    } catch (error) {
      // Gone already, or replaced by another of its name.
      if (!isStatusReason(error, 'NotFound') && !isStatusReason(error, 'Conflict')) throw error;
    }
    this.#isDeleteSent = true;
  }

  async #cleanUp(): Promise<void> {
    const { runtime, onGone } = this.#deps;
    const uid = this.#pod.metadata.uid ?? '';
    await this.#look();
    if (!this.#isOver) await this.#killAll(this.#pod.metadata.deletionGracePeriodSeconds ?? ORPHAN_GRACE_SECONDS);
    for (const { id } of this.#state.sandboxes) await runtime.removePodSandbox(id);
    this.stop();
    onGone(uid);
  }

  /** Regular containers first and all at once; then sidecars, the last one first, since others may need the ones before. */
  async #killAll(seconds: number): Promise<void> {
    const { clock, runtime } = this.#deps;
    const untilMs = clock.monotonic() + seconds * 1000;
    const sidecars = (this.#pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
    const alive = this.#state.containers.filter(({ state }) => state !== 'exited');
    const regular = alive.filter(({ name }) => !sidecars.includes(name));
    await Promise.all(regular.map((container) => this.#kill(container, seconds * 1000)));
    this.#deps.signal.throwIfAborted();
    for (const name of sidecars.toReversed()) {
      const left = Math.max(0, untilMs - clock.monotonic());
      await Promise.all(alive.filter((container) => container.name === name).map((container) => this.#kill(container, left)));
    }
    this.#deps.signal.throwIfAborted();
    for (const { id } of this.#state.sandboxes) await runtime.stopPodSandbox(id);
    this.#probes.stop();
    await this.#look();
  }

  #kill(container: ContainerStatus, graceMs: number, message?: string): Promise<void> {
    const podIp = this.#state.sandbox?.ips[0] ?? '';
    const request = { container, spec: this.#specOf(container.name), podIp, graceMs, events: this.#events, ...(message && { message }) };
    return killContainer(request, this.#deps);
  }

  /** The time to end became shorter: containers that are being ended learn of it. */
  #hurry(seconds: number): void {
    const { runtime, logger } = this.#deps;
    for (const { id, state } of this.#state.containers) {
      if (state === 'running') runtime.stopContainer(id, seconds * 1000).catch((error: unknown) => logger.warn('cannot stop', { error }));
    }
  }

  #probe(containerId: string, name: string, request: ProbeRequest): Promise<ProbeAnswer> {
    const [podIp = ''] = this.#pod.spec?.hostNetwork === true ? this.#deps.hostIps : (this.#state.sandbox?.ips ?? []);
    return this.#deps.probe({ containerId, container: this.#specOf(name) ?? { name }, podIp }, request);
  }

  #specOf(name: string): core.Container | undefined {
    const { spec } = this.#pod;
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
  }

  #probeGraceMs({ name }: ContainerStatus, probe: 'liveness' | 'startup' | undefined): number {
    const spec = this.#specOf(name);
    const asked = probe === 'liveness' ? spec?.livenessProbe : probe === 'startup' ? spec?.startupProbe : undefined;
    return (asked?.terminationGracePeriodSeconds ?? this.#pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  }

  /** The API shows something else than what was reported: others wrote, or the kubelet was away. */
  #isOutOfStep(): boolean {
    if (this.#running !== undefined) return true;
    this.#status.want(this.#reported);
    return false;
  }

  #report(isTerminal: boolean): void {
    const { runtimeName, hostIps, clock } = this.#deps;
    const status = podStatus({
      ...{ pod: this.#pod, previous: this.#reported, state: this.#state, waiting: this.#waiting },
      ...{ isTerminal, runtimeName, hostIps, verdict: this.#verdict, nowMs: clock.now() },
      hasStarted: (id) => this.#probes.hasStarted(id),
      isReady: (id) => this.#probes.isReady(id),
    });
    this.#reported = status;
    this.#status.want(status);
  }

  #wakeAt(ms: number): void {
    const { clock } = this.#deps;
    if (this.#timer !== undefined && this.#timerAtMs <= ms && this.#timerAtMs > clock.now()) return;
    this.#timer?.cancel();
    this.#timerAtMs = ms;
    this.#timer = clock.setTimer(ms - clock.now(), () => {
      this.#timer = undefined;
      this.#timerAtMs = Infinity;
      this.wake();
    });
  }
}

function isNewWish(before: core.Pod, after: core.Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  const { metadata } = after;
  if (deletionTimestamp !== metadata.deletionTimestamp || deletionGracePeriodSeconds !== metadata.deletionGracePeriodSeconds) return true;
  // Some servers do not count generations of pods.
  return before.spec !== after.spec || isTerminalPhase(after.status?.phase) !== isTerminalPhase(before.status?.phase);
}

function graceSeconds({ metadata, spec }: core.Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

function sandboxConfig({ metadata, spec }: core.Pod, attempt: number): SandboxConfig {
  const { name, namespace = '', uid = '', labels = {}, annotations = {} } = metadata;
  const hostname = spec?.hostname || name;
  return { name, namespace, uid, attempt, hostname, hostNetwork: spec?.hostNetwork === true, labels, annotations };
}
