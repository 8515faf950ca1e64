/** CRI messages about containers (api.proto). */
import { embedded, enumeration, type Field, field, message, repeated, stringMap, wrapped } from '#base';
import { ImageSpec } from './image.ts';
import {
  ContainerResources,
  IdMapping,
  NamespaceOptions,
  SandboxConfig,
  SecurityProfile,
  SelinuxOption,
  SupplementalGroupsPolicy,
} from './sandbox.ts';
import { signal } from './signals.ts';
import { nanosAsMs, optionalNanosAsMs, secondsAsMs } from './time-fields.ts';

export const ContainerState = enumeration('created', 'running', 'exited', 'unknown');

const Mount = message({
  containerPath: field(1, 'string'),
  hostPath: field(2, 'string'),
  readonly: field(3, 'bool'),
  selinuxRelabel: field(4, 'bool'),
  propagation: field(5, enumeration('private', 'hostToContainer', 'bidirectional')),
  uidMappings: repeated(6, IdMapping),
  gidMappings: repeated(7, IdMapping),
  recursiveReadOnly: field(8, 'bool'),
  image: field(9, ImageSpec),
  imageSubPath: field(10, 'string'),
  mountOptions: repeated(11, 'string'),
});

const Device = message({ containerPath: field(1, 'string'), hostPath: field(2, 'string'), permissions: field(3, 'string') });

const Capabilities = message({ add: repeated(1, 'string'), drop: repeated(2, 'string'), addAmbient: repeated(3, 'string') });

const ContainerSecurityContext = message({
  capabilities: field(1, Capabilities),
  privileged: field(2, 'bool'),
  namespaceOptions: field(3, NamespaceOptions),
  selinuxOptions: field(4, SelinuxOption),
  runAsUser: wrapped(5, 'int64'),
  runAsGroup: wrapped(12, 'int64'),
  runAsUsername: field(6, 'string'),
  readonlyRootfs: field(7, 'bool'),
  supplementalGroups: repeated(8, 'int64'),
  supplementalGroupsPolicy: field(17, SupplementalGroupsPolicy),
  noNewPrivs: field(11, 'bool'),
  maskedPaths: repeated(13, 'string'),
  readonlyPaths: repeated(14, 'string'),
  seccomp: field(15, SecurityProfile),
  apparmor: field(16, SecurityProfile),
});

export const ContainerMetadata = message({ name: field(1, 'string'), attempt: field(2, 'uint32') });

const KeyValue = message({ name: field(1, 'string'), value: field(2, 'string') });

const LinuxContainerConfig = message({ resources: field(1, ContainerResources), securityContext: field(2, ContainerSecurityContext) });

const CdiDevice = message({ name: field(1, 'string') });

/** CDI names, each wrapped in a message on the wire. */
function cdiDevices(number: number): Field<readonly string[], readonly string[]> {
  const devices = repeated(number, CdiDevice);
  return {
    number,
    write: (writer, names) =>
      devices.write(
        writer,
        names.map((name) => ({ name })),
      ),
    read: (reader, before) => [...before, ...devices.read(reader, []).map(({ name }) => name)],
    absent: () => [],
  };
}

const ContainerConfig = message({
  metadata: field(1, ContainerMetadata),
  image: field(2, ImageSpec),
  command: repeated(3, 'string'),
  args: repeated(4, 'string'),
  workingDir: field(5, 'string'),
  envs: repeated(6, KeyValue),
  mounts: repeated(7, Mount),
  devices: repeated(8, Device),
  labels: stringMap(9),
  annotations: stringMap(10),
  logPath: field(11, 'string'),
  stdin: field(12, 'bool'),
  stdinOnce: field(13, 'bool'),
  tty: field(14, 'bool'),
  linux: field(15, LinuxContainerConfig),
  cdiDevices: cdiDevices(17),
  stopSignal: signal(18),
});

export const CreateContainerRequest = message({
  sandboxId: field(1, 'string'),
  config: field(2, ContainerConfig),
  sandboxConfig: field(3, SandboxConfig),
});

export const ContainerId = message({ containerId: field(1, 'string') });
export const StopContainerRequest = message({ containerId: field(1, 'string'), timeoutMs: secondsAsMs(2) });

const ContainerFilter = message({
  id: field(1, 'string'),
  state: field(2, message({ state: field(1, ContainerState) })),
  sandboxId: field(3, 'string'),
  labelSelector: stringMap(4),
});

export const ListContainersRequest = message({ filter: field(1, ContainerFilter) });

const Container = message({
  id: field(1, 'string'),
  sandboxId: field(2, 'string'),
  metadata: embedded(3, ContainerMetadata),
  image: embedded(4, ImageSpec),
  imageRef: field(5, 'string'),
  state: field(6, ContainerState),
  createdAtMs: nanosAsMs(7),
  labels: stringMap(8),
  annotations: stringMap(9),
  imageId: field(10, 'string'),
});

export const ListContainersResponse = message({ containers: repeated(1, Container) });

const ContainerUser = message({ uid: field(1, 'int64'), gid: field(2, 'int64'), supplementalGroups: repeated(3, 'int64') });

const ContainerStatus = message({
  id: field(1, 'string'),
  metadata: embedded(2, ContainerMetadata),
  state: field(3, ContainerState),
  createdAtMs: nanosAsMs(4),
  startedAtMs: optionalNanosAsMs(5),
  finishedAtMs: optionalNanosAsMs(6),
  exitCode: field(7, 'int32'),
  image: embedded(8, ImageSpec),
  imageRef: field(9, 'string'),
  reason: field(10, 'string'),
  message: field(11, 'string'),
  labels: stringMap(12),
  annotations: stringMap(13),
  mounts: repeated(14, Mount),
  logPath: field(15, 'string'),
  resources: field(16, message({ linux: field(1, ContainerResources) })),
  imageId: field(17, 'string'),
  user: field(18, message({ linux: field(1, ContainerUser) })),
  stopSignal: signal(19),
});

export const ContainerStatusResponse = message({ status: field(1, ContainerStatus) });

export const UpdateContainerResourcesRequest = message({
  containerId: field(1, 'string'),
  linux: field(2, ContainerResources),
  annotations: stringMap(4),
});

export const ExecSyncRequest = message({ containerId: field(1, 'string'), command: repeated(2, 'string'), timeoutMs: secondsAsMs(3) });
export const ExecSyncResponse = message({ stdout: field(1, 'bytes'), stderr: field(2, 'bytes'), exitCode: field(3, 'int32') });

export const ExecRequest = message({
  containerId: field(1, 'string'),
  command: repeated(2, 'string'),
  tty: field(3, 'bool'),
  stdin: field(4, 'bool'),
  stdout: field(5, 'bool'),
  stderr: field(6, 'bool'),
});

export const AttachRequest = message({
  containerId: field(1, 'string'),
  stdin: field(2, 'bool'),
  tty: field(3, 'bool'),
  stdout: field(4, 'bool'),
  stderr: field(5, 'bool'),
});

export const PortForwardRequest = message({ sandboxId: field(1, 'string'), ports: repeated(2, 'int32') });
export const StreamingUrl = message({ url: field(1, 'string') });

export const CheckpointContainerRequest = message({
  containerId: field(1, 'string'),
  location: field(2, 'string'),
  timeoutMs: secondsAsMs(3),
});

const SandboxUid = message({ metadata: embedded(2, message({ uid: field(2, 'string') })) });

/** Only the fields that identify the pod. */
export const ContainerEventResponse = message({
  containerId: field(1, 'string'),
  type: field(2, enumeration('created', 'started', 'stopped', 'deleted')),
  createdAtMs: nanosAsMs(3),
  sandbox: embedded(4, SandboxUid),
});
