import type { Duplex } from 'node:stream';
import type {
  Container,
  ContainerConfig,
  ContainerEvent,
  ContainerFilter,
  ContainerResources,
  ContainerStatus,
} from './types/container.ts';
import type { AuthConfig, Image, ImageFsInfo, ImageSpec } from './types/image.ts';
import type { Sandbox, SandboxConfig, SandboxFilter, SandboxStatus, StringMap } from './types/sandbox.ts';
import type {
  ContainerStats,
  ContainerStatsFilter,
  MetricDescriptor,
  SandboxMetrics,
  SandboxStats,
  SandboxStatsFilter,
} from './types/stats.ts';
import type { AttachRequest, ExecRequest, ExecSyncRequest, ExecSyncResult, RemoteCommand } from './types/streaming.ts';

export type * from './types/container.ts';
export type * from './types/image.ts';
export type * from './types/sandbox.ts';
export type * from './types/stats.ts';
export type * from './types/streaming.ts';

export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface EventOptions extends CallOptions {
  /** Called after each relist with its duration. */
  onRelist?(durationMs: number): void;
}

/**
 * CRI v1 (RuntimeService and ImageService, without Windows), with its own names. Failed calls reject with a
 * `RuntimeError`. Stopping or removing something that does not exist succeeds. Times are milliseconds since 1970, possibly fractional.
 */
export interface ContainerRuntime extends RuntimeService, ImageService {
  /** Where it is reached, `unix:///path`. Absent: it is simulated. */
  readonly endpoint?: string;
}

export interface RuntimeService {
  version(options?: CallOptions): Promise<RuntimeVersion>;
  status(options?: CallOptions): Promise<RuntimeStatus>;
  runtimeConfig(options?: CallOptions): Promise<RuntimeConfig>;
  /** The node's pod CIDR: one range, or one per family separated by a comma. */
  updateRuntimeConfig(config: { readonly podCidr: string }, options?: CallOptions): Promise<void>;

  /** Creates the sandbox and its network. Resolves with its id once containers can be created in it. */
  runPodSandbox(config: SandboxConfig, runtimeHandler?: string, options?: CallOptions): Promise<string>;
  /** Kills every process in the sandbox and releases its addresses. */
  stopPodSandbox(sandboxId: string, options?: CallOptions): Promise<void>;
  /** Also removes its containers; log files remain. */
  removePodSandbox(sandboxId: string, options?: CallOptions): Promise<void>;
  /** Rejects with `notFound` when it does not exist. */
  podSandboxStatus(sandboxId: string, options?: CallOptions): Promise<SandboxStatus>;
  listPodSandbox(filter?: SandboxFilter, options?: CallOptions): Promise<readonly Sandbox[]>;
  updatePodSandboxResources(sandboxId: string, update: SandboxResources, options?: CallOptions): Promise<void>;

  createContainer(sandboxId: string, request: CreateContainerRequest, options?: CallOptions): Promise<string>;
  /** Resolves when the container runs; rejects when it could not be started, and is then exited. */
  startContainer(containerId: string, options?: CallOptions): Promise<void>;
  /** Stops it gracefully, and kills it after `timeoutMs` (rounded to seconds, as in CRI). Resolves when it has exited. */
  stopContainer(containerId: string, timeoutMs: number, options?: CallOptions): Promise<void>;
  removeContainer(containerId: string, options?: CallOptions): Promise<void>;
  listContainers(filter?: ContainerFilter, options?: CallOptions): Promise<readonly Container[]>;
  /** Rejects with `notFound` when it does not exist. */
  containerStatus(containerId: string, options?: CallOptions): Promise<ContainerStatus>;
  updateContainerResources(
    containerId: string,
    update: { readonly linux: ContainerResources; readonly annotations?: StringMap },
    options?: CallOptions,
  ): Promise<void>;
  /** After log rotation: further output goes to a new file. */
  reopenContainerLog(containerId: string, options?: CallOptions): Promise<void>;

  /** Runs a command in a running container. Rejects with `deadlineExceeded` on timeout. */
  execSync(containerId: string, request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResult>;
  exec(request: ExecRequest, options?: CallOptions): Promise<RemoteCommand>;
  attach(request: AttachRequest, options?: CallOptions): Promise<RemoteCommand>;
  /** Connects to a port on the sandbox's loopback. */
  portForward(sandboxId: string, port: number, options?: CallOptions): Promise<Duplex>;

  containerStats(containerId: string, options?: CallOptions): Promise<ContainerStats>;
  listContainerStats(filter?: ContainerStatsFilter, options?: CallOptions): Promise<readonly ContainerStats[]>;
  podSandboxStats(sandboxId: string, options?: CallOptions): Promise<SandboxStats>;
  listPodSandboxStats(filter?: SandboxStatsFilter, options?: CallOptions): Promise<readonly SandboxStats[]>;
  listMetricDescriptors(options?: CallOptions): Promise<readonly MetricDescriptor[]>;
  listPodSandboxMetrics(options?: CallOptions): Promise<readonly SandboxMetrics[]>;

  /** Writes a checkpoint of a running container to a file on the node. */
  checkpointContainer(
    containerId: string,
    request: { readonly location: string; readonly timeoutMs: number },
    options?: CallOptions,
  ): Promise<void>;

  /**
   * Each container that is created, started, stopped or deleted from now on, for any reason. Ends when the signal aborts. If the runtime
   * has no events the implementation relists every second; while the runtime is unreachable it waits.
   */
  getContainerEvents(options?: EventOptions): AsyncIterable<ContainerEvent>;
}

export interface ImageService {
  listImages(filter?: { readonly image?: ImageSpec }, options?: CallOptions): Promise<readonly Image[]>;
  /** Undefined when it is not present. */
  imageStatus(image: ImageSpec, options?: CallOptions): Promise<Image | undefined>;
  /** Resolves with the image reference for container configurations. */
  pullImage(image: ImageSpec, request: PullRequest, options?: CallOptions): Promise<string>;
  removeImage(image: ImageSpec, options?: CallOptions): Promise<void>;
  imageFsInfo(options?: CallOptions): Promise<ImageFsInfo>;
}

export interface CreateContainerRequest {
  readonly config: ContainerConfig;
  /** The configuration that the sandbox was created with. */
  readonly sandboxConfig: SandboxConfig;
}

export interface PullRequest {
  readonly auth?: AuthConfig;
  /** The pod that needs the image. */
  readonly sandboxConfig?: SandboxConfig;
}

export interface SandboxResources {
  readonly overhead?: ContainerResources;
  readonly resources?: ContainerResources;
}

/** gRPC status codes. */
export type RuntimeErrorCode =
  | 'cancelled'
  | 'unknown'
  | 'invalidArgument'
  | 'deadlineExceeded'
  | 'notFound'
  | 'alreadyExists'
  | 'permissionDenied'
  | 'resourceExhausted'
  | 'failedPrecondition'
  | 'aborted'
  | 'outOfRange'
  | 'unimplemented'
  | 'internal'
  | 'unavailable'
  | 'dataLoss'
  | 'unauthenticated';

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';

  constructor(
    readonly code: RuntimeErrorCode,
    /** The runtime's message, without the code. */
    readonly description: string,
    options?: ErrorOptions,
  ) {
    // gRPC clients in Go format errors like this; statuses and events show it.
    const name = code === 'cancelled' ? 'Canceled' : `${code.charAt(0).toUpperCase()}${code.slice(1)}`;
    super(`rpc error: code = ${name} desc = ${description}`, options);
  }
}

export interface RuntimeVersion {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}

export interface RuntimeCondition {
  /** `RuntimeReady`, `NetworkReady`, or runtime-specific. */
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface RuntimeHandler {
  /** Empty: the default handler. */
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeStatus {
  readonly conditions: readonly RuntimeCondition[];
  readonly handlers: readonly RuntimeHandler[];
  readonly features: {
    readonly supplementalGroupsPolicy: boolean;
    readonly userNamespacesHostNetwork: boolean;
    readonly mountOptions: boolean;
  };
}

export interface RuntimeConfig {
  /** Undefined: not reported by the runtime. */
  readonly cgroupDriver: 'systemd' | 'cgroupfs' | undefined;
}
