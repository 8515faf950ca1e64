import type { ContainerResources, IdMapping, NamespaceMode, SecurityProfile, SelinuxOption } from './container.ts';

/** Strings by name. */
export type StringMap = Readonly<Record<string, string>>;

export interface SandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  /** Incremented with each sandbox of the pod. */
  readonly attempt: number;
}

export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface PortMapping {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIp?: string;
}

export interface UserNamespace {
  readonly mode: 'pod' | 'node';
  readonly uids: readonly IdMapping[];
  readonly gids: readonly IdMapping[];
}

export interface NamespaceOptions {
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  /** The container whose namespaces are shared, for mode `target`. */
  readonly targetId?: string;
  readonly userns?: UserNamespace;
}

export interface SandboxSecurityContext {
  readonly namespaceOptions: NamespaceOptions;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: 'merge' | 'strict';
  /** Whether any container of the pod is privileged. */
  readonly privileged?: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
}

export interface LinuxSandboxConfig {
  /** The pod's cgroup, in the form of the node's cgroup driver. Absent: the runtime chooses. */
  readonly cgroupParent?: string;
  readonly securityContext: SandboxSecurityContext;
  readonly sysctls?: StringMap;
  readonly overhead?: ContainerResources;
  /** The sum of the containers' resources. */
  readonly resources?: ContainerResources;
}

export interface SandboxConfig {
  readonly metadata: SandboxMetadata;
  /** Empty on the host's UTS namespace. */
  readonly hostname: string;
  /** The base of the containers' log paths. */
  readonly logDirectory?: string;
  /** Absent: the runtime uses the host's resolv.conf. */
  readonly dnsConfig?: DnsConfig;
  readonly portMappings?: readonly PortMapping[];
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly linux: LinuxSandboxConfig;
}

export type SandboxState = 'ready' | 'notReady';

/** As returned by lists. */
export interface Sandbox {
  readonly id: string;
  readonly metadata: SandboxMetadata;
  readonly state: SandboxState;
  readonly createdAtMs: number;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly runtimeHandler: string;
}

export interface SandboxStatus extends Sandbox {
  /** The first one is the pod's address. None on the host's network. */
  readonly ips: readonly string[];
  readonly namespaceOptions?: NamespaceOptions;
}

/** All present criteria must match. */
export interface SandboxFilter {
  readonly id?: string;
  readonly state?: SandboxState;
  readonly labelSelector?: StringMap;
}
