/** CRI messages about sandboxes (api.proto, runtime.v1), with the names of `runtime.ts`. */
import { embedded, enumeration, field, message, optional, repeated, stringMap, wrapped } from '#base';
import { nanosAsMs } from './time-fields.ts';

export const Empty = message({});

export const NamespaceMode = enumeration('pod', 'container', 'node', 'target');
export const SupplementalGroupsPolicy = enumeration('merge', 'strict');
const Protocol = enumeration('tcp', 'udp', 'sctp');
/** Unknown states count as not ready. */
export const SandboxState = { ...enumeration('ready', 'notReady'), unnamed: 'notReady' } as const;

export const IdMapping = message({ hostId: field(1, 'uint32'), containerId: field(2, 'uint32'), length: field(3, 'uint32') });

const UserNamespace = message({
  mode: field(1, enumeration('pod', 'container', 'node', 'target')),
  uids: repeated(2, IdMapping),
  gids: repeated(3, IdMapping),
});

export const NamespaceOptions = message({
  network: field(1, NamespaceMode),
  pid: field(2, NamespaceMode),
  ipc: field(3, NamespaceMode),
  targetId: optional(4, 'string'),
  userns: field(5, UserNamespace),
});

export const SelinuxOption = message({
  user: field(1, 'string'),
  role: field(2, 'string'),
  type: field(3, 'string'),
  level: field(4, 'string'),
});

export const SecurityProfile = message({
  profileType: field(1, enumeration('runtimeDefault', 'unconfined', 'localhost')),
  localhostRef: optional(2, 'string'),
});

const HugepageLimit = message({ pageSize: field(1, 'string'), limit: field(2, 'uint64') });

/** In CRI 0 and absent are the same. */
export const ContainerResources = message({
  cpuPeriod: field(1, 'int64'),
  cpuQuota: field(2, 'int64'),
  cpuShares: field(3, 'int64'),
  memoryLimitInBytes: field(4, 'int64'),
  oomScoreAdj: field(5, 'int64'),
  cpusetCpus: field(6, 'string'),
  cpusetMems: field(7, 'string'),
  hugepageLimits: repeated(8, HugepageLimit),
  unified: stringMap(9),
  memorySwapLimitInBytes: field(10, 'int64'),
});

const SandboxSecurityContext = message({
  namespaceOptions: field(1, NamespaceOptions),
  selinuxOptions: field(2, SelinuxOption),
  runAsUser: wrapped(3, 'int64'),
  runAsGroup: wrapped(8, 'int64'),
  readonlyRootfs: field(4, 'bool'),
  supplementalGroups: repeated(5, 'int64'),
  supplementalGroupsPolicy: field(11, SupplementalGroupsPolicy),
  privileged: field(6, 'bool'),
  seccomp: field(9, SecurityProfile),
  apparmor: field(10, SecurityProfile),
});

const LinuxSandboxConfig = message({
  cgroupParent: field(1, 'string'),
  securityContext: field(2, SandboxSecurityContext),
  sysctls: stringMap(3),
  overhead: field(4, ContainerResources),
  resources: field(5, ContainerResources),
});

export const SandboxMetadata = message({
  name: field(1, 'string'),
  uid: field(2, 'string'),
  namespace: field(3, 'string'),
  attempt: field(4, 'uint32'),
});

const DnsConfig = message({ servers: repeated(1, 'string'), searches: repeated(2, 'string'), options: repeated(3, 'string') });

const PortMapping = message({
  protocol: field(1, Protocol),
  containerPort: field(2, 'int32'),
  hostPort: field(3, 'int32'),
  hostIp: field(4, 'string'),
});

export const SandboxConfig = message({
  metadata: field(1, SandboxMetadata),
  hostname: field(2, 'string'),
  logDirectory: field(3, 'string'),
  dnsConfig: field(4, DnsConfig),
  portMappings: repeated(5, PortMapping),
  labels: stringMap(6),
  annotations: stringMap(7),
  linux: field(8, LinuxSandboxConfig),
});

export const RunPodSandboxRequest = message({ config: field(1, SandboxConfig), runtimeHandler: field(2, 'string') });
export const SandboxId = message({ sandboxId: field(1, 'string') });

const SandboxFilter = message({
  id: field(1, 'string'),
  state: field(2, message({ state: field(1, SandboxState) })),
  labelSelector: stringMap(3),
});

export const ListPodSandboxRequest = message({ filter: field(1, SandboxFilter) });

const Sandbox = message({
  id: field(1, 'string'),
  metadata: embedded(2, SandboxMetadata),
  state: field(3, SandboxState),
  createdAtMs: nanosAsMs(4),
  labels: stringMap(5),
  annotations: stringMap(6),
  runtimeHandler: field(7, 'string'),
});

export const ListPodSandboxResponse = message({ items: repeated(1, Sandbox) });

const NetworkStatus = message({ ip: field(1, 'string'), additionalIps: repeated(2, message({ ip: field(1, 'string') })) });

const SandboxStatus = message({
  id: field(1, 'string'),
  metadata: embedded(2, SandboxMetadata),
  state: field(3, SandboxState),
  createdAtMs: nanosAsMs(4),
  network: embedded(5, NetworkStatus),
  linux: field(6, message({ namespaces: field(1, message({ options: field(2, NamespaceOptions) })) })),
  labels: stringMap(7),
  annotations: stringMap(8),
  runtimeHandler: field(9, 'string'),
});

export const PodSandboxStatusResponse = message({ status: field(1, SandboxStatus) });

export const UpdatePodSandboxResourcesRequest = message({
  sandboxId: field(1, 'string'),
  overhead: field(2, ContainerResources),
  resources: field(3, ContainerResources),
});
