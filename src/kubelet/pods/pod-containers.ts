import type { core } from '#api';
import { type Clock, TurnBudget } from '#base';
import type { ContainerStatus, SandboxConfig } from '../cri/runtime.ts';
import type { ContainerType } from '../metrics/kubelet-metrics.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import { killContainer } from './kill-container.ts';
import { killPod } from './kill-pod.ts';
import { allocationOf, withAllocation } from './pod-allocation.ts';
import type { PodEvents } from './pod-events.ts';
import {
  containerSpecs,
  containerView,
  latestContainer,
  NO_STATE,
  type PodContainer,
  type PodState,
  podState,
  readPodState,
  withStarted,
} from './pod-state.ts';
import { Resizes } from './resizes.ts';
import { containersToReset } from './restart-all.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import { Restarts } from './restarts.ts';
import { type ContainerDeps, startContainer } from './start-container.ts';
import { StartFailure } from './start-failure.ts';

export interface PodContainersDeps extends ContainerDeps {
  readonly clock: Clock;
  readonly restartBackoff: RestartBackoff;
  /** The termination message of an exited container, if the runtime does not know it. */
  terminationMessage?(status: ContainerStatus): Promise<string>;
  readonly hostIps: readonly string[];
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
}

/** The worker's current view of the pod. */
export interface PodView {
  readonly events: PodEvents;
  pod(): core.Pod;
  reported(): core.PodStatus;
  context(): PodContext;
  /** Requests a sync at that time. */
  wakeAt(timeMs: number): void;
}

/** The sandboxes and containers of one pod: their state in the runtime, and operations on them. */
export class PodContainers {
  readonly restarts: Restarts;
  readonly #turn: TurnBudget;
  readonly #resizes = new Resizes();
  readonly #ended = new Map<string, PodContainer>();
  #state: PodState = NO_STATE;
  /** Counts what may have changed the state in the runtime. */
  #changes = 0;
  /** The count that the state reflects. */
  #seen = -1;

  constructor(
    private readonly view: PodView,
    private readonly deps: PodContainersDeps,
  ) {
    const { clock, restartBackoff } = deps;
    this.#turn = new TurnBudget(clock);
    this.restarts = new Restarts({ clock, restartBackoff, events: view.events, pod: view.pod });
  }

  /** As of the last `look`. */
  get state(): PodState {
    return this.#state;
  }

  /** Reads the state from the runtime. Throws when the kubelet has stopped: its successor manages the pod. */
  async look(): Promise<void> {
    const { runtime, terminationMessage, signal } = this.deps;
    const changes = this.#changes;
    const reader = { runtime, ended: this.#ended, ...(terminationMessage && { terminationMessage }) };
    const state = await readPodState(reader, this.view.pod().metadata.uid ?? '');
    signal.throwIfAborted();
    this.#state = state;
    this.#seen = changes;
    if (this.#ended.size > state.containers.length) this.#forgetRemoved(state);
  }

  /** Reads the state, unless nothing but this worker's own starts has changed it since the last time. */
  async lookAgain(): Promise<void> {
    if (this.#seen !== this.#changes) await this.look();
  }

  /** Something other than the worker's own starts may have changed the state. */
  invalidate(): void {
    this.#changes++;
  }

  /**
   * Performs a change of the runtime and applies it to the cached state. If it throws, or other changes happen meanwhile, the state is read
   * again.
   */
  async #change(perform: () => Promise<void>): Promise<void> {
    const changes = ++this.#changes;
    const wasCurrent = this.#seen === changes - 1;
    await perform();
    if (wasCurrent && this.#changes === changes) this.#seen = changes;
  }

  #forgetRemoved({ containers }: PodState): void {
    const present = new Set(containers.map(({ id }) => id));
    for (const id of this.#ended.keys()) if (!present.has(id)) this.#ended.delete(id);
  }

  /** A sandbox requested by a stopped kubelet may appear after its successor's. */
  async stopStraySandboxes(): Promise<void> {
    const [, ...others] = this.#state.sandboxes.filter(({ isReady }, index) => isReady || index === 0);
    if (others.length > 0) this.invalidate();
    for (const { id } of others) await this.deps.runtime.stopPodSandbox(id);
  }

  /** The state has the new sandbox afterwards. */
  async createSandbox(graceMs: number): Promise<void> {
    const { configs } = this.deps;
    const { events } = this.view;
    const pod = this.view.pod();
    const old = this.#state.sandbox;
    if (old !== undefined) {
      events.normal(undefined, 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
      await killPod(this.#killRequest(graceMs), this.deps);
      await this.look();
    }
    try {
      const config = await configs.sandbox(pod, (old?.attempt ?? -1) + 1, events);
      const handler = await configs.runtimeHandler(pod);
      await this.#change(async () => this.#observeSandbox(await this.#runSandbox(config, handler)));
    } catch (error) {
      events.warning(undefined, 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Everything else is as it was before the sandbox was created. */
  async #observeSandbox(id: string): Promise<void> {
    const { state, ips, metadata, createdAtMs } = await this.deps.runtime.podSandboxStatus(id);
    this.deps.signal.throwIfAborted();
    const sandbox = { id, attempt: metadata.attempt, isReady: state === 'ready', createdAtMs, ips };
    this.#state = podState([sandbox, ...this.#state.sandboxes], this.#state.containers);
  }

  async #runSandbox(config: SandboxConfig, handler: string): Promise<string> {
    const { runtime, clock, kubeletMetrics } = this.deps;
    const since = clock.monotonic();
    const count = (hasFailed: boolean) => kubeletMetrics?.sandboxRun(handler, (clock.monotonic() - since) / 1000, hasFailed);
    try {
      const id = await runtime.runPodSandbox(config, handler);
      count(false);
      return id;
    } catch (error) {
      count(true);
      throw error;
    }
  }

  /** True when the container was started; otherwise it is retried later. */
  async start(container: core.Container): Promise<boolean> {
    const { name } = container;
    // The state changes with each start, so an index would be used only once.
    const instances = this.#state.containers.filter((instance) => instance.name === name);
    const [last] = instances;
    // Also for containers killed by a probe: backoff counts from the previous exit, as upstream.
    const ended = instances.find(({ state }) => state === 'exited');
    const blockedUntil = ended && this.restarts.blockedUntil(container, ended);
    if (blockedUntil !== undefined) {
      this.view.wakeAt(blockedUntil);
      return false;
    }
    const attempt = await this.#nextAttempt(name, last);
    const { sandbox } = this.#state;
    if (sandbox === undefined) return false;
    const context = this.view.context();
    const { kubeletMetrics } = this.deps;
    const request = { context, container, attempt, sandbox, targetId: this.#targetOf(container) };
    try {
      await this.#change(async () => this.#observeStarted(await startContainer(request, this.deps), last));
    } catch (error) {
      if (!(error instanceof StartFailure) || context.signal.aborted) throw error;
      kubeletMetrics?.containerStarted(this.#typeOf(name), error.reason);
      this.view.wakeAt(this.restarts.failed(container, error));
      return false;
    }
    kubeletMetrics?.containerStarted(this.#typeOf(name));
    this.restarts.started(container);
    await this.#removeDead(name);
    // A runtime that responds synchronously would block the event loop for thousands of containers.
    if (this.#turn.isSpent) await this.#turn.next();
    return true;
  }

  /** Only the first container of its name: there is nothing to remove for others to see. */
  async #observeStarted(id: string, last: PodContainer | undefined): Promise<void> {
    const { sandbox } = this.#state;
    const status = last === undefined && sandbox !== undefined ? await this.deps.runtime.containerStatus(id) : undefined;
    if (status?.state !== 'running' || sandbox === undefined) return this.invalidate();
    this.deps.signal.throwIfAborted();
    this.#state = withStarted(this.#state, containerView(status, sandbox.id));
  }

  #typeOf(name: string): ContainerType {
    const { initContainers = [], ephemeralContainers = [] } = this.view.pod().spec ?? {};
    if (initContainers.some((container) => container.name === name)) return 'init_container';
    return ephemeralContainers.some((container) => container.name === name) ? 'ephemeral_container' : 'container';
  }

  /** The running target container of an ephemeral container. */
  #targetOf(container: core.Container): string | undefined {
    const { targetContainerName } = container as Partial<core.EphemeralContainer>;
    if (!targetContainerName) return undefined;
    return latestContainer(this.#state, targetContainerName)?.id;
  }

  async #nextAttempt(name: string, last: PodContainer | undefined): Promise<number> {
    const { runtime } = this.deps;
    if (last?.state === 'created') {
      // Created by a kubelet that stopped in between, and possibly starting: it must not run beside its successor.
      await runtime.stopContainer(last.id, 0);
      await runtime.removeContainer(last.id);
      return last.attempt;
    }
    if (last !== undefined) return last.attempt + 1;
    const { containerStatuses = [], initContainerStatuses = [] } = this.view.reported();
    return [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name)?.restartCount ?? 0;
  }

  /** Only the last exited container is kept, for its log and state. */
  async #removeDead(name: string): Promise<void> {
    const dead = this.#state.containers.filter((container) => container.name === name && container.state !== 'running');
    for (const { id } of dead.slice(1)) await this.deps.runtime.removeContainer(id);
  }

  /** Applies the pod's current resources to it and to its running containers. True when some must be restarted for that. */
  async resize(graceMs: number, isInProgress: boolean): Promise<boolean> {
    const due = this.#resizes.due(this.view.pod(), this.#state, this.view.reported());
    if (due.length === 0 && !isInProgress) return false;
    this.invalidate();
    const { sandbox } = this.#state;
    const sandboxId = sandbox?.isReady ? sandbox.id : undefined;
    const restart = (container: PodContainer) => this.kill(container, graceMs, `Container ${container.name} resize requires restart`);
    return this.#resizes.perform(due, this.view.context(), { ...this.deps, restart, sandboxId });
  }

  /** What a running container has at the moment. */
  appliedResources(containerId: string): core.ResourceRequirements | undefined {
    return this.#resizes.applied(containerId);
  }

  /** The pod with the current resources of its containers. */
  actual(): core.Pod {
    const pod = this.view.pod();
    const { pod: ofPod, containers } = allocationOf(pod);
    const appliedResources = [...containers].map(([name, resources]) => {
      const { id, state } = latestContainer(this.#state, name) ?? {};
      return [name, (state === 'running' && id !== undefined ? this.#resizes.applied(id) : undefined) ?? resources] as const;
    });
    return withAllocation(pod, { pod: ofPod, containers: new Map(appliedResources) });
  }

  /** As upstream, without a grace period: kills all containers and removes everything but logs, so that the pod restarts in its sandbox. */
  async resetAll(): Promise<void> {
    this.invalidate();
    for (const container of containersToReset(this.view.pod(), this.#state)) {
      if (container.state !== 'exited') await this.kill(container, 0, 'killing');
      await this.deps.runtime.removeContainer(container.id);
    }
    await this.look();
  }

  kill({ id, name, state }: PodContainer, graceMs: number, message: string): Promise<void> {
    this.invalidate();
    const target = { id, name, isRunning: state === 'running' };
    return killContainer({ ...this.#killRequest(graceMs), target, spec: this.specOf(name), message }, this.deps);
  }

  async killAll(graceMs: number): Promise<void> {
    this.invalidate();
    await killPod(this.#killRequest(graceMs), this.deps);
    this.deps.signal.throwIfAborted();
  }

  #killRequest(graceMs: number) {
    return { context: this.view.context(), state: this.#state, podIp: this.podIp(), graceMs };
  }

  podIp(): string {
    const { sandbox } = this.#state;
    return (this.view.pod().spec?.hostNetwork === true ? this.deps.hostIps : (sandbox?.ips ?? []))[0] ?? '';
  }

  specOf(name: string): core.Container | undefined {
    return containerSpecs(this.view.pod()).find((container) => container.name === name);
  }
}
