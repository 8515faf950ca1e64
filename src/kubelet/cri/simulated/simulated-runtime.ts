import type { Duplex } from 'node:stream';
import type { core } from '#api';
import { type Clock, parseIp, type Random } from '#base';
import type { LogEntry, LogReadOptions } from '../../logs/container-logs.ts';
import { POD_UID } from '../../pods/labels.ts';
import type { ProbeRequest, ProbeResult } from '../../prober/prober.ts';
import {
  type AttachRequest,
  type CallOptions,
  type Container,
  type ContainerConfig,
  type ContainerEvent,
  type ContainerFilter,
  type ContainerRuntime,
  type ContainerStats,
  type ContainerStatus,
  type CreateContainerRequest,
  type ExecRequest,
  type ExecSyncRequest,
  type ExecSyncResult,
  type Image,
  type ImageFsInfo,
  type ImageSpec,
  type PullRequest,
  type RemoteCommand,
  type RuntimeConfig,
  RuntimeError,
  type RuntimeStatus,
  type RuntimeVersion,
  type Sandbox,
  type SandboxConfig,
  type SandboxFilter,
  type SandboxStats,
  type SandboxStatus,
} from '../runtime.ts';
import { AddressPool } from './address-pool.ts';
import { expectedCommand } from './command-script.ts';
import { EventStream } from './event-stream.ts';
import { podFromStatus } from './pod-from-status.ts';
import { containerScript, type SandboxScript, sandboxScript, scriptedValues } from './script.ts';
import { SimulatedContainer } from './simulated-container.ts';
import { SimulatedImages } from './simulated-images.ts';
import { SimulatedPulls } from './simulated-pulls.ts';
import { SimulatedSandbox } from './simulated-sandbox.ts';
import { simulatedAttach, simulatedExec, simulatedPortForward } from './simulated-streams.ts';
import { containerStats, matchesFilter, SIMULATED_STATUS, sandboxStats } from './simulated-views.ts';
import { type Stage, stagedValues } from './stage.ts';

export interface SimulatedRuntimeConfig {
  readonly stages?: readonly Stage[];
  /** The address range until the node has a pod CIDR. Default: a random /24. */
  readonly podCidr?: string;
}

export interface SimulatedRuntimeDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** A runtime without processes: containers behave, in the clock's time, as annotations or stages script them. */
export class SimulatedRuntime implements ContainerRuntime {
  readonly #deps: SimulatedRuntimeDeps;
  readonly #stages: readonly Stage[];
  readonly #sandboxes = new Map<string, SimulatedSandbox>();
  readonly #containers = new Map<string, SimulatedContainer>();
  /** Sandboxes and containers by pod, so that looking up one pod is not linear in all. */
  readonly #pods = new Map<string, { readonly sandboxes: Set<SimulatedSandbox>; readonly containers: Set<SimulatedContainer> }>();
  readonly #images = new SimulatedImages();
  readonly #pulls: SimulatedPulls;
  readonly #events = new EventStream<ContainerEvent>();
  #pools: readonly AddressPool[];
  /** Incremented by each crash: what ran before it is not restored. */
  #failures = 0;

  constructor(config: SimulatedRuntimeConfig, deps: SimulatedRuntimeDeps) {
    this.#deps = deps;
    this.#stages = config.stages ?? [];
    this.#pulls = new SimulatedPulls(this.#stages, deps.clock);
    this.#pools = [new AddressPool(config.podCidr ?? someCidr(deps.random))];
  }

  async version(): Promise<RuntimeVersion> {
    return { runtimeName: 'simulated', runtimeVersion: '1.0.0', runtimeApiVersion: 'v1' };
  }

  async status(): Promise<RuntimeStatus> {
    return SIMULATED_STATUS;
  }

  async runtimeConfig(): Promise<RuntimeConfig> {
    return { cgroupDriver: undefined };
  }

  async updateRuntimeConfig({ podCidr }: { readonly podCidr: string }): Promise<void> {
    if (podCidr === '' || podCidr === this.#pools.map(({ cidr }) => cidr).join()) return;
    this.#pools = podCidr.split(',').map((cidr) => new AddressPool(cidr));
    for (const { ips, isReady } of this.#sandboxes.values()) if (isReady) this.#claim(ips);
  }

  async runPodSandbox(config: SandboxConfig): Promise<string> {
    const script = this.#sandboxScript(config);
    const failures = this.#failures;
    if (script.timeMs > 0) await this.#deps.clock.sleep(script.timeMs);
    if (failures !== this.#failures) throw new RuntimeError('unavailable', 'the machine failed');
    if (script.error !== undefined) throw new RuntimeError('unknown', script.error);
    return this.#addSandbox(this.#newId(), config, this.#addresses(config, script)).id;
  }

  async stopPodSandbox(sandboxId: string): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox === undefined) return;
    for (const container of this.#containersIn(sandbox)) if (container.state !== 'exited') container.kill();
    if (sandbox.isReady) this.#release(sandbox.ips);
    sandbox.isReady = false;
  }

  async removePodSandbox(sandboxId: string): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox === undefined) return;
    await this.stopPodSandbox(sandboxId);
    for (const container of this.#containersIn(sandbox)) this.#drop(container);
    this.#sandboxes.delete(sandboxId);
    const pod = this.#pods.get(sandbox.podUid);
    pod?.sandboxes.delete(sandbox);
    if (pod?.sandboxes.size === 0 && pod.containers.size === 0) this.#pods.delete(sandbox.podUid);
  }

  async podSandboxStatus(sandboxId: string): Promise<SandboxStatus> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox === undefined) throw new RuntimeError('notFound', `an error occurred when try to find sandbox: not found`);
    return sandbox.status;
  }

  async listPodSandbox(filter: SandboxFilter = {}): Promise<readonly Sandbox[]> {
    const podUid = filter.labelSelector?.[POD_UID];
    const candidates = podUid === undefined ? this.#sandboxes.values() : (this.#pods.get(podUid)?.sandboxes ?? []);
    return Array.from(candidates, ({ status }) => status).filter((status) => matchesFilter(status, filter));
  }

  async updatePodSandboxResources(): Promise<void> {}

  async createContainer(sandboxId: string, { config }: CreateContainerRequest): Promise<string> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox?.isReady !== true) throw new RuntimeError('notFound', `sandbox ${sandboxId} is not ready`);
    if (!this.#images.has(config.image.image)) throw new RuntimeError('notFound', `image ${config.image.image} is not present`);
    return this.#addContainer(this.#newId(), sandbox, config).options.id;
  }

  async startContainer(containerId: string): Promise<void> {
    await this.#container(containerId).start();
  }

  async stopContainer(containerId: string, timeoutMs: number): Promise<void> {
    await this.#containers.get(containerId)?.stop(timeoutMs);
  }

  async removeContainer(containerId: string): Promise<void> {
    const container = this.#containers.get(containerId);
    if (container === undefined) return;
    if (container.state === 'running') container.kill();
    this.#drop(container);
    this.#emit('deleted', container);
  }

  async listContainers(filter: ContainerFilter = {}): Promise<readonly Container[]> {
    const podUid = filter.labelSelector?.[POD_UID];
    const candidates = podUid === undefined ? this.#containers.values() : (this.#pods.get(podUid)?.containers ?? []);
    return Array.from(candidates, ({ status, options }) => ({ ...status, sandboxId: options.sandboxId })).filter(
      (container) => matchesFilter(container, filter) && (filter.sandboxId === undefined || filter.sandboxId === container.sandboxId),
    );
  }

  async containerStatus(containerId: string): Promise<ContainerStatus> {
    return this.#container(containerId).status;
  }

  async updateContainerResources(containerId: string): Promise<void> {
    this.#container(containerId);
  }

  async reopenContainerLog(containerId: string): Promise<void> {
    this.#container(containerId);
  }

  async imageStatus({ image }: ImageSpec): Promise<Image | undefined> {
    return this.#images.get(image);
  }

  async pullImage({ image }: ImageSpec, { sandboxConfig }: PullRequest): Promise<string> {
    await this.#pulls.pull(image, sandboxConfig);
    return this.#images.add(image);
  }

  async listImages(): Promise<readonly Image[]> {
    return this.#images.list();
  }

  async removeImage({ image }: ImageSpec): Promise<void> {
    this.#images.delete(image);
  }

  async imageFsInfo(): Promise<ImageFsInfo> {
    return this.#images.usage(this.#deps.clock.now());
  }

  async execSync(containerId: string, { timeoutMs }: ExecSyncRequest, { signal }: CallOptions = {}): Promise<ExecSyncResult> {
    const { execTimeMs, execExitCode, execOutput } = this.#running(containerId).options.script;
    const { clock } = this.#deps;
    if (timeoutMs > 0 && execTimeMs > timeoutMs) {
      await clock.sleep(timeoutMs, signal);
      throw new RuntimeError('deadlineExceeded', `command timed out after ${timeoutMs} ms`);
    }
    if (execTimeMs > 0) await clock.sleep(execTimeMs, signal);
    return { exitCode: execExitCode, stdout: Buffer.from(execOutput), stderr: Buffer.alloc(0) };
  }

  async exec(request: ExecRequest, options: CallOptions = {}): Promise<RemoteCommand> {
    return simulatedExec(this.#running(request.containerId), request, { ...options, clock: this.#deps.clock });
  }

  async attach(request: AttachRequest, { signal }: CallOptions = {}): Promise<RemoteCommand> {
    const log = this.containerLog(request.containerId, { follow: true, signal });
    return simulatedAttach(this.#running(request.containerId), request, log);
  }

  async portForward(sandboxId: string, port: number): Promise<Duplex> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox === undefined) throw new RuntimeError('notFound', `sandbox ${sandboxId} not found`);
    return simulatedPortForward(this.#pods.get(sandbox.podUid)?.containers ?? [], port);
  }

  async containerStats(containerId: string): Promise<ContainerStats> {
    return containerStats(this.#container(containerId), this.#deps.clock.now());
  }

  async listContainerStats(): Promise<readonly ContainerStats[]> {
    return Array.from(this.#containers.values(), (container) => containerStats(container, this.#deps.clock.now()));
  }

  async podSandboxStats(sandboxId: string): Promise<SandboxStats> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox === undefined) throw new RuntimeError('notFound', `sandbox ${sandboxId} not found`);
    return sandboxStats(sandbox, this.#containersIn(sandbox), this.#deps.clock.now());
  }

  async listPodSandboxStats(): Promise<readonly SandboxStats[]> {
    return Array.from(this.#sandboxes.values(), (sandbox) => sandboxStats(sandbox, this.#containersIn(sandbox), this.#deps.clock.now()));
  }

  async listMetricDescriptors(): Promise<readonly []> {
    return [];
  }

  async listPodSandboxMetrics(): Promise<readonly []> {
    return [];
  }

  async checkpointContainer(): Promise<void> {
    throw new RuntimeError('unimplemented', 'a simulated container cannot be checkpointed');
  }

  getContainerEvents({ signal }: CallOptions = {}): AsyncIterable<ContainerEvent> {
    return this.#events.subscribe(signal);
  }

  async *containerLog(containerId: string, { follow = false, signal }: LogReadOptions = {}): AsyncIterable<LogEntry> {
    const container = this.#container(containerId);
    if (container.process !== undefined) return yield* container.process.log({ follow, signal });
    const { clock } = this.#deps;
    let seen = -Infinity;
    for (;;) {
      const now = clock.now();
      yield* container.log(seen, now);
      seen = now;
      if (!follow || container.state === 'exited' || signal?.aborted) return;
      await this.#nextLine(container, seen, signal);
    }
  }

  /** As scripted. */
  probe(containerId: string, { type }: ProbeRequest): ProbeResult {
    return this.#container(containerId).answer(type);
  }

  /** Restores what was running according to the pods' statuses: simulated containers end with their process. */
  async restore(pods: readonly core.Pod[]): Promise<void> {
    if (this.#failures > 0) return;
    for (const pod of pods) if (!this.#pods.has(pod.metadata.uid ?? '')) this.#restorePod(pod);
  }

  /** Machine crash: everything that ran is lost, without events. */
  powerOff(): void {
    this.#failures++;
    for (const container of this.#containers.values()) container.vanish();
    for (const { ips } of this.#sandboxes.values()) this.#release(ips);
    this.#sandboxes.clear();
    this.#containers.clear();
    this.#pods.clear();
  }

  #restorePod(pod: core.Pod): void {
    const before = podFromStatus(pod);
    if (before === undefined) return;
    const sandbox = this.#addSandbox(this.#newId(), before.sandbox, before.ips);
    this.#claim(before.ips);
    for (const { id, image, config, sinceMs } of before.containers) {
      const name = { image: this.#images.add(image), userSpecifiedImage: image };
      this.#addContainer(id, sandbox, { ...config, image: name }).run(sinceMs);
    }
  }

  #addSandbox(id: string, config: SandboxConfig, ips: readonly string[]): SimulatedSandbox {
    const sandbox = new SimulatedSandbox(id, config, this.#deps.clock.now(), ips);
    this.#sandboxes.set(id, sandbox);
    const pod = this.#pods.get(sandbox.podUid);
    if (pod === undefined) this.#pods.set(sandbox.podUid, { sandboxes: new Set([sandbox]), containers: new Set() });
    else pod.sandboxes.add(sandbox);
    return sandbox;
  }

  #addContainer(id: string, sandbox: SimulatedSandbox, config: ContainerConfig): SimulatedContainer {
    const { userSpecifiedImage = config.image.image } = config.image;
    const staged = stagedValues(this.#stages, sandbox.config, userSpecifiedImage);
    const container = new SimulatedContainer({
      ...{ id, config, sandboxId: sandbox.id, podUid: sandbox.podUid, podName: sandbox.config.metadata.name, clock: this.#deps.clock },
      logPath: `${sandbox.config.logDirectory ?? ''}/${config.logPath}`,
      script: containerScript(scriptedValues(sandbox.config, staged), config.metadata.name),
      command: expectedCommand(config, sandbox.config),
      onChange: (changed, type) => this.#emit(type, changed),
    });
    this.#containers.set(id, container);
    this.#pods.get(sandbox.podUid)?.containers.add(container);
    this.#emit('created', container);
    return container;
  }

  #sandboxScript(config: SandboxConfig): SandboxScript {
    return sandboxScript(scriptedValues(config, stagedValues(this.#stages, config)));
  }

  #addresses({ linux }: SandboxConfig, { ip }: SandboxScript): readonly string[] {
    if (linux.securityContext.namespaceOptions.network === 'node') return [];
    return ip === undefined ? this.#pools.map((pool) => pool.take()) : [ip];
  }

  #claim(ips: readonly string[]): void {
    for (const ip of ips) for (const pool of this.#pools) pool.claim(parseIp(ip)?.value ?? -1n);
  }

  #release(ips: readonly string[]): void {
    for (const ip of ips) for (const pool of this.#pools) pool.release(parseIp(ip)?.value ?? -1n);
  }

  #containersIn({ id, podUid }: SimulatedSandbox): readonly SimulatedContainer[] {
    return [...(this.#pods.get(podUid)?.containers ?? [])].filter(({ options }) => options.sandboxId === id);
  }

  #drop(container: SimulatedContainer): void {
    const { id, podUid } = container.options;
    this.#containers.delete(id);
    this.#pods.get(podUid)?.containers.delete(container);
  }

  #container(id: string): SimulatedContainer {
    const container = this.#containers.get(id);
    if (container === undefined) throw new RuntimeError('notFound', `container ${id} not found`);
    return container;
  }

  #running(id: string): SimulatedContainer {
    const container = this.#container(id);
    if (container.state !== 'running') throw new RuntimeError('failedPrecondition', `container ${id} is not running`);
    return container;
  }

  async #nextLine(container: SimulatedContainer, afterMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#deps;
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal?.addEventListener('abort', abort, { once: true });
    const due = clock.sleep(container.nextLineAtMs(afterMs) - afterMs, stop.signal).catch(() => {});
    await Promise.race([due, container.ended()]);
    stop.abort();
    signal?.removeEventListener('abort', abort);
  }

  #emit(type: ContainerEvent['type'], { options }: SimulatedContainer): void {
    const { id: containerId, podUid } = options;
    this.#events.publish({ type, containerId, podUid, createdAtMs: this.#deps.clock.now() });
  }

  #newId(): string {
    return Buffer.from(this.#deps.random.bytes(32)).toString('hex');
  }
}

function someCidr(random: Random): string {
  return `10.${128 + random.int(128)}.${random.int(256)}.0/24`;
}
