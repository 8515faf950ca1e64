import type { ImageSpec } from './image.ts';
import type { NamespaceOptions, StringMap } from './sandbox.ts';

export type NamespaceMode = 'pod' | 'container' | 'node' | 'target';

export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

export interface SelinuxOption {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

export interface SecurityProfile {
  readonly profileType: 'runtimeDefault' | 'unconfined' | 'localhost';
  /** A full path for seccomp, the name of a loaded profile for AppArmor. */
  readonly localhostRef?: string;
}

/** CRI's LinuxContainerResources. Absent members are unchanged (update) or unlimited (create). */
export interface ContainerResources {
  readonly cpuPeriod?: number;
  /** -1: unlimited. */
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitInBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[];
  /** Values of cgroup v2 files by name. */
  readonly unified?: StringMap;
  readonly memorySwapLimitInBytes?: number;
}

export interface Mount {
  readonly containerPath: string;
  /** Empty for image mounts. */
  readonly hostPath: string;
  readonly readonly?: boolean;
  readonly selinuxRelabel?: boolean;
  readonly propagation?: 'private' | 'hostToContainer' | 'bidirectional';
  readonly uidMappings?: readonly IdMapping[];
  readonly gidMappings?: readonly IdMapping[];
  readonly recursiveReadOnly?: boolean;
  readonly image?: ImageSpec;
  readonly imageSubPath?: string;
  readonly mountOptions?: readonly string[];
}

export interface Device {
  readonly containerPath: string;
  readonly hostPath: string;
  /** Of `r`, `w` and `m`. */
  readonly permissions: string;
}

export interface Capabilities {
  readonly add: readonly string[];
  readonly drop: readonly string[];
  readonly addAmbient?: readonly string[];
}

export interface ContainerSecurityContext {
  readonly capabilities?: Capabilities;
  readonly privileged?: boolean;
  readonly namespaceOptions: NamespaceOptions;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsUsername?: string;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: 'merge' | 'strict';
  readonly noNewPrivs?: boolean;
  readonly maskedPaths?: readonly string[];
  readonly readonlyPaths?: readonly string[];
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
}

export interface ContainerMetadata {
  readonly name: string;
  /** 0 for the first container of that name in the pod, then incremented: the restart count. */
  readonly attempt: number;
}

export interface ContainerConfig {
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  /** Empty: the image's entry point. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDir?: string;
  readonly envs: readonly { readonly name: string; readonly value: string }[];
  readonly mounts: readonly Mount[];
  readonly devices?: readonly Device[];
  /** Qualified names such as `vendor.com/class=name`. */
  readonly cdiDevices?: readonly string[];
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** Relative to the sandbox's log directory. */
  readonly logPath: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly linux: { readonly resources: ContainerResources; readonly securityContext: ContainerSecurityContext };
  /** Such as `SIGUSR1` or `SIGRTMIN+3`. Absent: the image's, or SIGTERM. */
  readonly stopSignal?: string;
}

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** As returned by lists. */
export interface Container {
  readonly id: string;
  readonly sandboxId: string;
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  /** The image by digest, as pod statuses show it. */
  readonly imageRef: string;
  readonly imageId: string;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

export interface ContainerStatus {
  readonly id: string;
  readonly metadata: ContainerMetadata;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  /** Absent until it ran. */
  readonly startedAtMs?: number;
  /** Absent until it ended. */
  readonly finishedAtMs?: number;
  /** Valid once it has exited. */
  readonly exitCode: number;
  readonly image: ImageSpec;
  readonly imageRef: string;
  readonly imageId: string;
  /** `Completed`, `Error`, `OOMKilled`, `StartError`…; empty while it runs. */
  readonly reason: string;
  /** Why it could not start; empty otherwise. */
  readonly message: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly mounts: readonly Mount[];
  /** Absolute. */
  readonly logPath: string;
  /** Absent: the runtime does not report them. */
  readonly resources?: ContainerResources;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
  readonly stopSignal?: string;
}

/** All present criteria must match. */
export interface ContainerFilter {
  readonly id?: string;
  readonly state?: ContainerState;
  readonly sandboxId?: string;
  readonly labelSelector?: StringMap;
}

export interface ContainerEvent {
  readonly type: 'created' | 'started' | 'stopped' | 'deleted';
  /** The sandbox's own id if the event is about the sandbox. */
  readonly containerId: string;
  /** From the labels of the container or sandbox; empty when absent. */
  readonly podUid: string;
  readonly createdAtMs: number;
}
