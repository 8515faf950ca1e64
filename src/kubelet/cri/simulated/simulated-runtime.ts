import type { core } from '#api';
import { type Clock, parseIp, type Random } from '#base';
import { parseTime } from '#machinery';
import {
  type ContainerConfig,
  type ContainerEvent,
  type ContainerRuntime,
  type ContainerStatus,
  type ExecResult,
  type ImageStatus,
  type LogEntry,
  type LogOptions,
  type PodFilter,
  type ProbeAnswer,
  type ProbeRequest,
  RuntimeError,
  type RuntimeStatus,
  type RuntimeVersion,
  type SandboxConfig,
  type SandboxStatus,
} from '../runtime.ts';
import { AddressPool } from './address-pool.ts';
import { type CommandScript, commandScript } from './command-script.ts';
import { type ContainerScript, containerScript, type SandboxScript, sandboxScript, scriptedValues } from './script.ts';
import { SimulatedContainer } from './simulated-container.ts';
import { type Stage, stagedValues } from './stage.ts';

export interface SimulatedRuntimeConfig {
  readonly stages?: readonly Stage[];
  /** Where addresses come from until the node has a range of its own. Default: a /24 chosen by chance, unlike that of most other nodes. */
  readonly podCidr?: string;
}

export interface SimulatedRuntimeDeps {
  readonly clock: Clock;
  readonly random: Random;
}

interface Sandbox {
  readonly id: string;
  readonly config: SandboxConfig;
  readonly createdAtMs: number;
  ips: readonly string[];
  isReady: boolean;
}

const IMAGE_SIZE_BYTES = 52_428_800;

/** Pods without processes: containers that do, in the clock's time, what annotations or stages say. */
export class SimulatedRuntime implements ContainerRuntime {
  readonly #deps: SimulatedRuntimeDeps;
  readonly #stages: readonly Stage[];
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #containers = new Map<string, SimulatedContainer>();
  /** Sandboxes and containers by pod, so that a look at one pod does not cost a look at all. */
  readonly #pods = new Map<string, { readonly sandboxes: Set<Sandbox>; readonly containers: Set<SimulatedContainer> }>();
  readonly #images = new Map<string, ImageStatus>();
  readonly #failedPulls = new Map<string, number>();
  readonly #listeners = new Set<(event: ContainerEvent) => void>();
  #pools: readonly AddressPool[];
  /** What a failed machine ran is not to be restored: it is lost. */
  #failures = 0;

  constructor(config: SimulatedRuntimeConfig, deps: SimulatedRuntimeDeps) {
    this.#deps = deps;
    this.#stages = config.stages ?? [];
    this.#pools = [new AddressPool(config.podCidr ?? someCidr(deps.random))];
  }

  async version(): Promise<RuntimeVersion> {
    return { runtimeName: 'simulated', runtimeVersion: '1.0.0' };
  }

  async status(): Promise<RuntimeStatus> {
    return {};
  }

  async updatePodCidr(cidrs: readonly string[]): Promise<void> {
    if (cidrs.length === 0 || cidrs.join() === this.#pools.map(({ cidr }) => cidr).join()) return;
    this.#pools = cidrs.map((cidr) => new AddressPool(cidr));
    for (const { ips, isReady } of this.#sandboxes.values()) if (isReady) this.#claim(ips);
  }

  async runPodSandbox(config: SandboxConfig): Promise<string> {
    const script = this.#sandboxScript(config);
    const failures = this.#failures;
    if (script.timeMs > 0) await this.#deps.clock.sleep(script.timeMs);
    if (failures !== this.#failures) throw new RuntimeError('sandboxFailed', 'the machine failed');
    if (script.error !== undefined) throw new RuntimeError('sandboxFailed', script.error);
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
    const pod = this.#pods.get(sandbox.config.uid);
    pod?.sandboxes.delete(sandbox);
    if (pod?.sandboxes.size === 0 && pod.containers.size === 0) this.#pods.delete(sandbox.config.uid);
  }

  async listPodSandboxes({ podUid }: PodFilter = {}): Promise<readonly SandboxStatus[]> {
    const found = podUid === undefined ? this.#sandboxes.values() : (this.#pods.get(podUid)?.sandboxes ?? []);
    return Array.from(found, ({ id, config, isReady, createdAtMs, ips }) => ({ id, config, isReady, createdAtMs, ips }));
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox?.isReady !== true) throw new RuntimeError('notFound', `sandbox ${sandboxId} is not ready`);
    if (!this.#images.has(config.imageRef)) throw new RuntimeError('notFound', `image ${config.image} is not present`);
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
    if (container.state === 'running') throw new RuntimeError('invalid', `container ${containerId} is running`);
    this.#drop(container);
  }

  async listContainers({ podUid }: PodFilter = {}): Promise<readonly ContainerStatus[]> {
    const found = podUid === undefined ? this.#containers.values() : (this.#pods.get(podUid)?.containers ?? []);
    return Array.from(found, ({ status }) => status);
  }

  async imageStatus(image: string): Promise<ImageStatus | undefined> {
    return this.#images.get(refOf(image)) ?? this.#images.get(image);
  }

  async pullImage(image: string, sandbox: SandboxConfig): Promise<ImageStatus> {
    const script = this.#imageScript(image, sandbox);
    if (script.pullTimeMs > 0) await this.#deps.clock.sleep(script.pullTimeMs);
    if (script.pullError !== undefined) this.#failPull(image, sandbox, script);
    const status = { ref: refOf(image), names: [image], sizeBytes: IMAGE_SIZE_BYTES };
    this.#images.set(status.ref, status);
    return status;
  }

  async listImages(): Promise<readonly ImageStatus[]> {
    return [...this.#images.values()];
  }

  async removeImage(image: string): Promise<void> {
    this.#images.delete(refOf(image));
  }

  async execSync(containerId: string, _command: readonly string[], timeoutMs: number): Promise<ExecResult> {
    const container = this.#container(containerId);
    if (container.state !== 'running') throw new RuntimeError('invalid', `container ${containerId} is not running`);
    const { execTimeMs, execExitCode, execOutput } = container.options.script;
    const { clock } = this.#deps;
    if (execTimeMs > timeoutMs) {
      await clock.sleep(timeoutMs);
      throw new RuntimeError('timeout', `command timed out after ${timeoutMs} ms`);
    }
    if (execTimeMs > 0) await clock.sleep(execTimeMs);
    return { exitCode: execExitCode, stdout: execOutput, stderr: '' };
  }

  async *containerLog(containerId: string, { follow = false, signal }: LogOptions = {}): AsyncIterable<LogEntry> {
    const container = this.#container(containerId);
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

  onContainerEvent(listener: (event: ContainerEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async probe(containerId: string, { type }: ProbeRequest): Promise<ProbeAnswer> {
    return this.#container(containerId).answer(type);
  }

  async restore(pods: readonly core.Pod[]): Promise<void> {
    if (this.#failures > 0) return;
    for (const pod of pods) if (!this.#pods.has(pod.metadata.uid ?? '')) this.#restorePod(pod);
  }

  powerOff(): void {
    this.#failures++;
    for (const container of this.#containers.values()) container.vanish();
    for (const { ips } of this.#sandboxes.values()) this.#release(ips);
    this.#sandboxes.clear();
    this.#containers.clear();
    this.#pods.clear();
  }

  #restorePod({ metadata, spec, status }: core.Pod): void {
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const specs = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    if (!statuses.some(({ state }) => state?.running)) return;
    const { name, namespace = '', uid = '', labels = {}, annotations = {} } = metadata;
    const hostNetwork = spec?.hostNetwork === true;
    const config = { name, namespace, uid, attempt: 0, hostname: name, hostNetwork, labels, annotations };
    const ips = hostNetwork ? [] : (status?.podIPs ?? []).map(({ ip }) => ip);
    const sandbox = this.#addSandbox(this.#newId(), config, ips);
    this.#claim(ips);
    for (const known of statuses) {
      const container = specs.find((candidate) => candidate.name === known.name);
      if (container !== undefined) this.#restoreContainer(sandbox, container, known);
    }
  }

  #restoreContainer(sandbox: Sandbox, spec: core.Container, known: core.ContainerStatus): void {
    const since = known.state?.running?.startedAt;
    const id = known.containerID?.split('://')[1];
    if (!since || id === undefined) return;
    this.#images.set(refOf(known.image), { ref: refOf(known.image), names: [known.image], sizeBytes: IMAGE_SIZE_BYTES });
    const container = this.#addContainer(id, sandbox, {
      ...{ name: known.name, attempt: known.restartCount, image: known.image, imageRef: refOf(known.image), specHash: '' },
      ...{ command: spec.command ?? [], args: spec.args ?? [], env: [], tty: false, stdin: false },
    });
    container.run(parseTime(since));
  }

  #addSandbox(id: string, config: SandboxConfig, ips: readonly string[]): Sandbox {
    const sandbox: Sandbox = { id, config, createdAtMs: this.#deps.clock.now(), ips, isReady: true };
    this.#sandboxes.set(id, sandbox);
    const pod = this.#pods.get(config.uid);
    if (pod === undefined) this.#pods.set(config.uid, { sandboxes: new Set([sandbox]), containers: new Set() });
    else pod.sandboxes.add(sandbox);
    return sandbox;
  }

  #addContainer(id: string, sandbox: Sandbox, config: ContainerConfig): SimulatedContainer {
    const container = new SimulatedContainer({
      ...{ id, config, sandboxId: sandbox.id, podUid: sandbox.config.uid, clock: this.#deps.clock },
      script: containerScript(scriptedValues(sandbox.config, stagedValues(this.#stages, sandbox.config, config.image)), config.name),
      command: expectedCommand(config, sandbox.config),
      onChange: (changed, type) => this.#tell({ type, containerId: changed.options.id, podUid: changed.options.podUid }),
    });
    this.#containers.set(id, container);
    this.#pods.get(sandbox.config.uid)?.containers.add(container);
    return container;
  }

  #sandboxScript(config: SandboxConfig): SandboxScript {
    return sandboxScript(scriptedValues(config, stagedValues(this.#stages, config)));
  }

  /** Pulling is scripted for the pod: a container's own pull settings name it by its image. */
  #imageScript(image: string, config: SandboxConfig): ContainerScript {
    return containerScript(scriptedValues(config, stagedValues(this.#stages, config, image)), imageBaseName(image));
  }

  #failPull(image: string, { uid }: SandboxConfig, { pullError, pullFailures }: ContainerScript): void {
    const key = `${uid} ${image}`;
    const failed = this.#failedPulls.get(key) ?? 0;
    if (failed < pullFailures) {
      this.#failedPulls.set(key, failed + 1);
      throw new RuntimeError('pullFailed', pullError ?? '');
    }
    this.#failedPulls.delete(key);
  }

  #addresses({ hostNetwork }: SandboxConfig, { ip }: SandboxScript): readonly string[] {
    if (hostNetwork) return [];
    return ip === undefined ? this.#pools.map((pool) => pool.take()) : [ip];
  }

  #claim(ips: readonly string[]): void {
    for (const ip of ips) for (const pool of this.#pools) pool.claim(parseIp(ip)?.value ?? -1n);
  }

  #release(ips: readonly string[]): void {
    for (const ip of ips) for (const pool of this.#pools) pool.release(parseIp(ip)?.value ?? -1n);
  }

  #containersIn({ id, config }: Sandbox): readonly SimulatedContainer[] {
    return [...(this.#pods.get(config.uid)?.containers ?? [])].filter(({ options }) => options.sandboxId === id);
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

  #tell(event: ContainerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #newId(): string {
    return Buffer.from(this.#deps.random.bytes(32)).toString('hex');
  }
}

function someCidr(random: Random): string {
  return `10.${128 + random.int(128)}.${random.int(256)}.0/24`;
}

/** What is known of the command; pods of Jobs end well when nothing is, since a job that never ends helps nobody. */
function expectedCommand({ command, args }: ContainerConfig, { labels }: SandboxConfig): CommandScript | undefined {
  const known = command.length + args.length === 0 ? undefined : commandScript([...command, ...args]);
  if (known !== undefined || labels['batch.kubernetes.io/job-name'] === undefined) return known;
  return { lines: [], runTimeMs: 0, exitCode: 0 };
}

function imageBaseName(image: string): string {
  return (/([^/:@]+)(?::[^/]*|@.*)?$/.exec(image) ?? [])[1] ?? image;
}

/** As a digest would: the same for the same image. */
function refOf(image: string): string {
  if (image.includes('@sha256:')) return image;
  let hash = 0x811c9dc5;
  let digest = '';
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < image.length; i++) hash = Math.imul(hash ^ image.charCodeAt(i) ^ round, 0x01000193);
    digest += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return `${image.replace(/:[^/:]*$/, '')}@sha256:${digest}`;
}
