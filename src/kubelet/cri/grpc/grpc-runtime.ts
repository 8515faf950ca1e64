import type { Duplex } from 'node:stream';
import { type Clock, GrpcClient, type Logger, type Method } from '#base';
import type {
  AttachRequest,
  CallOptions,
  Container,
  ContainerEvent,
  ContainerFilter,
  ContainerResources,
  ContainerRuntime,
  ContainerStats,
  ContainerStatsFilter,
  ContainerStatus,
  CreateContainerRequest,
  EventOptions,
  ExecRequest,
  ExecSyncRequest,
  ExecSyncResult,
  Image,
  ImageFsInfo,
  ImageSpec,
  MetricDescriptor,
  PullRequest,
  RemoteCommand,
  RuntimeConfig,
  RuntimeStatus,
  RuntimeVersion,
  Sandbox,
  SandboxConfig,
  SandboxFilter,
  SandboxMetrics,
  SandboxResources,
  SandboxStats,
  SandboxStatsFilter,
  SandboxStatus,
  StringMap,
} from '../runtime.ts';
import { RuntimeError } from '../runtime.ts';
import { watchContainers } from './container-events.ts';
import { cgroupDriverOf } from './containerd-config.ts';
import { toContainerStats, toContainerStatus, toFilesystemUsage, toSandboxMetrics, toSandboxStats, toSandboxStatus } from './convert.ts';
import { imageService, runtimeService } from './methods.ts';
import { hasRuntimeCode, toRuntimeError } from './runtime-errors.ts';
import type { StreamingClient } from './streaming-client.ts';

export interface GrpcRuntimeOptions {
  /** `unix:///path` of the runtime's socket. */
  readonly endpoint: string;
  /** Socket of the image service. Default: the runtime's. */
  readonly imageEndpoint?: string;
  /** The kubelet's `runtimeRequestTimeout`. Default: two minutes. */
  readonly requestTimeoutMs?: number;
}

export interface GrpcRuntimeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The client of the runtime's streaming server, for exec, attach and port-forward. */
  readonly streaming: StreamingClient;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** A connection without received data for this time is pinged, and replaced when it is dead. Lists are more frequent than that. */
const KEEP_ALIVE_MS = 15_000;

/** CRI v1 over a socket: containerd, CRI-O and others. Timeouts are upstream's. */
export class GrpcRuntime implements ContainerRuntime, Disposable {
  readonly endpoint: string;
  readonly #runtime: GrpcClient;
  readonly #images: GrpcClient;
  readonly #deps: GrpcRuntimeDeps;
  readonly #timeoutMs: number;

  constructor(options: GrpcRuntimeOptions, deps: GrpcRuntimeDeps) {
    const { endpoint, imageEndpoint = endpoint } = options;
    this.endpoint = endpoint;
    this.#deps = deps;
    this.#timeoutMs = options.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    const open = (socket: string) => new GrpcClient({ endpoint: socket, clock: deps.clock, keepAliveMs: KEEP_ALIVE_MS });
    this.#runtime = open(endpoint);
    this.#images = imageEndpoint === endpoint ? this.#runtime : open(imageEndpoint);
  }

  /** Closes the connections. Containers keep running. */
  [Symbol.dispose](): void {
    this.#runtime.close();
    this.#images.close();
  }

  version(options?: CallOptions): Promise<RuntimeVersion> {
    return this.#call(runtimeService.version, { version: 'v1' }, options);
  }

  async status(options?: CallOptions): Promise<RuntimeStatus> {
    const { status, handlers, features } = await this.#call(runtimeService.status, {}, options);
    if (status.conditions.length < 2) throw new RuntimeError('internal', 'RuntimeReady or NetworkReady condition are not set');
    return { conditions: status.conditions, handlers: handlers.map(({ name, features: has }) => ({ name, ...has })), features };
  }

  /** Runtimes before CRI 1.28 do not implement it; containerd reports it in its verbose status. */
  async runtimeConfig(options?: CallOptions): Promise<RuntimeConfig> {
    try {
      const { linux } = await this.#call(runtimeService.runtimeConfig, {}, options);
      return { cgroupDriver: linux?.cgroupDriver };
    } catch (error) {
      if (!hasRuntimeCode(error, 'unimplemented')) throw error;
      const { info } = await this.#call(runtimeService.status, { verbose: true }, options);
      return { cgroupDriver: cgroupDriverOf(info.config) };
    }
  }

  async updateRuntimeConfig({ podCidr }: { readonly podCidr: string }, options?: CallOptions): Promise<void> {
    await this.#call(runtimeService.updateRuntimeConfig, { runtimeConfig: { networkConfig: { podCidr } } }, options);
  }

  /** Twice the timeout: the sandbox image may have to be pulled. */
  async runPodSandbox(config: SandboxConfig, runtimeHandler = '', options?: CallOptions): Promise<string> {
    const request = { config, runtimeHandler };
    const { sandboxId } = await this.#call(runtimeService.runPodSandbox, request, { ...options, timeoutMs: this.#timeoutMs * 2 });
    return present('RunPodSandbox', sandboxId);
  }

  stopPodSandbox(sandboxId: string, options?: CallOptions): Promise<void> {
    return ignoreNotFound(this.#call(runtimeService.stopPodSandbox, { sandboxId }, options));
  }

  removePodSandbox(sandboxId: string, options?: CallOptions): Promise<void> {
    return ignoreNotFound(this.#call(runtimeService.removePodSandbox, { sandboxId }, options));
  }

  async podSandboxStatus(sandboxId: string, options?: CallOptions): Promise<SandboxStatus> {
    const { status } = await this.#call(runtimeService.podSandboxStatus, { sandboxId }, options);
    return toSandboxStatus(present('PodSandboxStatus', status));
  }

  async listPodSandbox(filter: SandboxFilter = {}, options?: CallOptions): Promise<readonly Sandbox[]> {
    const request = { filter: { ...filter, state: filter.state && { state: filter.state } } };
    return (await this.#call(runtimeService.listPodSandbox, request, options)).items;
  }

  async updatePodSandboxResources(sandboxId: string, update: SandboxResources, options?: CallOptions): Promise<void> {
    await this.#call(runtimeService.updatePodSandboxResources, { sandboxId, ...update }, options);
  }

  async createContainer(sandboxId: string, request: CreateContainerRequest, options?: CallOptions): Promise<string> {
    const { containerId } = await this.#call(runtimeService.createContainer, { sandboxId, ...request }, options);
    return present('CreateContainer', containerId);
  }

  async startContainer(containerId: string, options?: CallOptions): Promise<void> {
    await this.#call(runtimeService.startContainer, { containerId }, options);
  }

  stopContainer(containerId: string, timeoutMs: number, options?: CallOptions): Promise<void> {
    const limits = { ...options, timeoutMs: this.#timeoutMs + timeoutMs };
    return ignoreNotFound(this.#call(runtimeService.stopContainer, { containerId, timeoutMs }, limits));
  }

  removeContainer(containerId: string, options?: CallOptions): Promise<void> {
    return ignoreNotFound(this.#call(runtimeService.removeContainer, { containerId }, options));
  }

  async listContainers(filter: ContainerFilter = {}, options?: CallOptions): Promise<readonly Container[]> {
    const request = { filter: { ...filter, state: filter.state && { state: filter.state } } };
    return (await this.#call(runtimeService.listContainers, request, options)).containers;
  }

  async containerStatus(containerId: string, options?: CallOptions): Promise<ContainerStatus> {
    const { status } = await this.#call(runtimeService.containerStatus, { containerId }, options);
    return toContainerStatus(present('ContainerStatus', status));
  }

  async updateContainerResources(
    containerId: string,
    update: { readonly linux: ContainerResources; readonly annotations?: StringMap },
    options?: CallOptions,
  ): Promise<void> {
    await this.#call(runtimeService.updateContainerResources, { containerId, ...update }, options);
  }

  async reopenContainerLog(containerId: string, options?: CallOptions): Promise<void> {
    await this.#call(runtimeService.reopenContainerLog, { containerId }, options);
  }

  /** The runtime enforces the command's timeout; the call gets the request timeout on top, and none when the command has none. */
  async execSync(containerId: string, request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResult> {
    const { timeoutMs } = request;
    const limits = { ...options, timeoutMs: timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs + this.#timeoutMs };
    const { stdout, stderr, exitCode } = await this.#call(runtimeService.execSync, { containerId, ...request }, limits);
    return { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode };
  }

  async exec(request: ExecRequest, options?: CallOptions): Promise<RemoteCommand> {
    const { url } = await this.#call(runtimeService.exec, request, options);
    return this.#deps.streaming.command(present('Exec', url), request, options);
  }

  async attach(request: AttachRequest, options?: CallOptions): Promise<RemoteCommand> {
    const { url } = await this.#call(runtimeService.attach, request, options);
    return this.#deps.streaming.command(present('Attach', url), request, options);
  }

  async portForward(sandboxId: string, port: number, options?: CallOptions): Promise<Duplex> {
    const { url } = await this.#call(runtimeService.portForward, { sandboxId, ports: [port] }, options);
    return this.#deps.streaming.portForward(present('PortForward', url), port, options);
  }

  async containerStats(containerId: string, options?: CallOptions): Promise<ContainerStats> {
    const { stats } = await this.#call(runtimeService.containerStats, { containerId }, options);
    return toContainerStats(present('ContainerStats', stats));
  }

  /** Without a timeout, like the other stats: measuring the layers may take long. */
  async listContainerStats(filter: ContainerStatsFilter = {}, options?: CallOptions): Promise<readonly ContainerStats[]> {
    const { stats } = await this.#call(runtimeService.listContainerStats, { filter }, { ...options, timeoutMs: Number.POSITIVE_INFINITY });
    return stats.map(toContainerStats);
  }

  async podSandboxStats(sandboxId: string, options?: CallOptions): Promise<SandboxStats> {
    const { stats } = await this.#call(runtimeService.podSandboxStats, { sandboxId }, options);
    return toSandboxStats(present('PodSandboxStats', stats));
  }

  async listPodSandboxStats(filter: SandboxStatsFilter = {}, options?: CallOptions): Promise<readonly SandboxStats[]> {
    const { stats } = await this.#call(runtimeService.listPodSandboxStats, { filter }, { ...options, timeoutMs: Number.POSITIVE_INFINITY });
    return stats.map(toSandboxStats);
  }

  async listMetricDescriptors(options?: CallOptions): Promise<readonly MetricDescriptor[]> {
    return (await this.#call(runtimeService.listMetricDescriptors, {}, options)).descriptors;
  }

  async listPodSandboxMetrics(options?: CallOptions): Promise<readonly SandboxMetrics[]> {
    const { podMetrics } = await this.#call(runtimeService.listPodSandboxMetrics, {}, options);
    return podMetrics.map(toSandboxMetrics);
  }

  /** Negative: the runtime applies no timeout. */
  async checkpointContainer(
    containerId: string,
    request: { readonly location: string; readonly timeoutMs: number },
    options?: CallOptions,
  ): Promise<void> {
    const { timeoutMs } = request;
    const limits = { ...options, timeoutMs: timeoutMs < 0 ? Number.POSITIVE_INFINITY : timeoutMs + this.#timeoutMs };
    await this.#call(runtimeService.checkpointContainer, { containerId, ...request }, limits);
  }

  getContainerEvents({ signal, onRelist }: EventOptions = {}): AsyncIterable<ContainerEvent> {
    return watchContainers({ ...this.#deps, runtime: this, client: this.#runtime, signal, onRelist });
  }

  async listImages(filter: { readonly image?: ImageSpec } = {}, options?: CallOptions): Promise<readonly Image[]> {
    return (await this.#callImages(imageService.listImages, { filter }, options)).images;
  }

  async imageStatus(image: ImageSpec, options?: CallOptions): Promise<Image | undefined> {
    return (await this.#callImages(imageService.imageStatus, { image }, options)).image;
  }

  /** Without a timeout: the runtime detects stalled pulls itself. */
  async pullImage(image: ImageSpec, request: PullRequest, options?: CallOptions): Promise<string> {
    const limits = { ...options, timeoutMs: Number.POSITIVE_INFINITY };
    const { imageRef } = await this.#callImages(imageService.pullImage, { image, ...request }, limits);
    return present('PullImage', imageRef);
  }

  removeImage(image: ImageSpec, options?: CallOptions): Promise<void> {
    return ignoreNotFound(this.#callImages(imageService.removeImage, { image }, options));
  }

  async imageFsInfo(options?: CallOptions): Promise<ImageFsInfo> {
    const info = await this.#callImages(imageService.imageFsInfo, {}, { ...options, timeoutMs: Number.POSITIVE_INFINITY });
    return {
      imageFilesystems: info.imageFilesystems.map(toFilesystemUsage),
      containerFilesystems: info.containerFilesystems.map(toFilesystemUsage),
    };
  }

  #call<Request, Response>(method: Method<Request, Response>, request: Request, options: Limits = {}): Promise<Response> {
    return this.#send(this.#runtime, { method, request, options });
  }

  #callImages<Request, Response>(method: Method<Request, Response>, request: Request, options: Limits = {}): Promise<Response> {
    return this.#send(this.#images, { method, request, options });
  }

  async #send<Request, Response>(
    client: GrpcClient,
    { method, request, options }: { method: Method<Request, Response>; request: Request; options: Limits },
  ): Promise<Response> {
    try {
      return await client.unary(method, request, { timeoutMs: this.#timeoutMs, ...options });
    } catch (error) {
      throw toRuntimeError(error);
    }
  }
}

type Limits = CallOptions & { readonly timeoutMs?: number };

async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!hasRuntimeCode(error, 'notFound')) throw error;
  }
}

function present<T>(method: string, value: T | undefined): T {
  if (value === undefined || value === '') throw new RuntimeError('internal', `the runtime's response to ${method} is empty`);
  return value;
}
