import type { core } from '#api';

/**
 * What runs containers, in the terms of the Container Runtime Interface: pods have a sandbox, containers live in one, images are pulled
 * before. Calls that cannot be fulfilled reject with a `RuntimeError`. Calls that name something that is gone succeed when they would
 * have removed or stopped it, as in CRI.
 */
export interface ContainerRuntime {
  version(): Promise<RuntimeVersion>;
  status(): Promise<RuntimeStatus>;
  /** The range that addresses of sandboxes are to come from. */
  updatePodCidr(cidrs: readonly string[]): Promise<void>;

  /** Makes the sandbox and its network. Resolves with its id once containers can be created in it. */
  runPodSandbox(config: SandboxConfig): Promise<string>;
  /** Ends every process in the sandbox at once and gives its address back. */
  stopPodSandbox(sandboxId: string): Promise<void>;
  /** Also removes the containers in it, their logs included. */
  removePodSandbox(sandboxId: string): Promise<void>;
  listPodSandboxes(filter?: PodFilter): Promise<readonly SandboxStatus[]>;

  createContainer(sandboxId: string, config: ContainerConfig): Promise<string>;
  /** Resolves when the container runs; rejects when it could not be started, which ends it. */
  startContainer(containerId: string): Promise<void>;
  /** Asks it to end, and ends it after `timeoutMs`. Resolves when it has ended. Of several calls the most urgent one counts. */
  stopContainer(containerId: string, timeoutMs: number): Promise<void>;
  /** Of one that has ended, with its log. */
  removeContainer(containerId: string): Promise<void>;
  listContainers(filter?: PodFilter): Promise<readonly ContainerStatus[]>;

  imageStatus(image: string): Promise<ImageStatus | undefined>;
  pullImage(image: string, sandbox: SandboxConfig): Promise<ImageStatus>;
  listImages(): Promise<readonly ImageStatus[]>;
  removeImage(image: string): Promise<void>;

  /** Runs a command in a running container to its end. Rejects with reason `timeout` when it takes longer than `timeoutMs`. */
  execSync(containerId: string, command: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** What the container wrote, oldest first; with `follow` also what it will write, until it ends or the signal aborts. */
  containerLog(containerId: string, options?: LogOptions): AsyncIterable<LogEntry>;

  /** Tells of each container that began or ended, whoever caused it. Dispose of the result to be told no more. */
  onContainerEvent(listener: (event: ContainerEvent) => void): Disposable;
  /** Runtimes whose containers have no network of this machine answer probes themselves. */
  probe?(containerId: string, probe: ProbeRequest): Promise<ProbeAnswer>;
  /** Runtimes whose containers end with this process take up again what the pods' statuses say was running. */
  restore?(pods: readonly core.Pod[]): Promise<void>;
  /** The machine failed: everything that ran is lost, and nobody is told. For runtimes that can simulate that. */
  powerOff?(): void;
}

export type RuntimeErrorReason = 'notFound' | 'pullFailed' | 'startFailed' | 'sandboxFailed' | 'timeout' | 'invalid';

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';

  constructor(
    readonly reason: RuntimeErrorReason,
    message: string,
  ) {
    super(message);
  }
}

export interface RuntimeVersion {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
}

export interface RuntimeStatus {
  /** Undefined when the runtime can run containers; else why it cannot. */
  readonly runtimeProblem?: string;
  readonly networkProblem?: string;
}

export interface PodFilter {
  readonly podUid?: string;
}

export interface SandboxConfig {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Grows with each sandbox of the same pod. */
  readonly attempt: number;
  readonly hostname: string;
  readonly hostNetwork: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface SandboxStatus {
  readonly id: string;
  readonly config: SandboxConfig;
  readonly isReady: boolean;
  readonly createdAtMs: number;
  /** None for pods on the host's network. */
  readonly ips: readonly string[];
}

export interface ContainerConfig {
  readonly name: string;
  /** 0 for the first container of that name in the pod, then one more each time: the restart count. */
  readonly attempt: number;
  readonly image: string;
  /** As `imageStatus` gave it. */
  readonly imageRef: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDir?: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Tells whether the container is still the one that its pod asks for. */
  readonly specHash: string;
  readonly tty: boolean;
  readonly stdin: boolean;
}

export interface ContainerStatus {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited';
  readonly image: string;
  readonly imageRef: string;
  readonly specHash: string;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly exitCode?: number;
  /** `Completed`, `Error`, `OOMKilled`, `ContainerCannotRun`… */
  readonly reason?: string;
  /** What it left as its termination message, or why it could not start. */
  readonly message?: string;
}

export interface ImageStatus {
  /** The id by which containers name it. */
  readonly ref: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LogOptions {
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface LogEntry {
  readonly timeMs: number;
  readonly stream: 'stdout' | 'stderr';
  /** One line, without its end. */
  readonly line: string;
}

export interface ContainerEvent {
  readonly type: 'started' | 'stopped';
  readonly containerId: string;
  readonly podUid: string;
}

export interface ProbeRequest {
  readonly type: 'startup' | 'readiness' | 'liveness';
  readonly probe: core.Probe;
  readonly timeoutMs: number;
}

export interface ProbeAnswer {
  readonly passed: boolean;
  /** What a failed probe said. */
  readonly output: string;
  /** No other answer will be given before then, as long as the container runs: there is no need to ask. */
  readonly sameUntilMs?: number;
}
