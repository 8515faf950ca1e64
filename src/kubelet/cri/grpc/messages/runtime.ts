/** CRI messages about the runtime (api.proto). */
import { embedded, enumeration, field, message, repeated, stringMap } from '#base';

export const VersionRequest = message({ version: field(1, 'string') });
export const VersionResponse = message({
  version: field(1, 'string'),
  runtimeName: field(2, 'string'),
  runtimeVersion: field(3, 'string'),
  runtimeApiVersion: field(4, 'string'),
});

const RuntimeCondition = message({
  type: field(1, 'string'),
  status: field(2, 'bool'),
  reason: field(3, 'string'),
  message: field(4, 'string'),
});

const HandlerFeatures = message({ recursiveReadOnlyMounts: field(1, 'bool'), userNamespaces: field(2, 'bool') });
const RuntimeHandler = message({ name: field(1, 'string'), features: embedded(2, HandlerFeatures) });
const RuntimeFeatures = message({
  supplementalGroupsPolicy: field(1, 'bool'),
  userNamespacesHostNetwork: field(2, 'bool'),
  mountOptions: field(3, 'bool'),
});

export const StatusRequest = message({ verbose: field(1, 'bool') });
export const StatusResponse = message({
  status: embedded(1, message({ conditions: repeated(1, RuntimeCondition) })),
  info: stringMap(2),
  handlers: repeated(3, RuntimeHandler),
  features: embedded(4, RuntimeFeatures),
});

export const RuntimeConfigResponse = message({
  linux: field(1, message({ cgroupDriver: field(1, enumeration('systemd', 'cgroupfs')) })),
});

const NetworkConfig = message({ podCidr: field(1, 'string') });
export const UpdateRuntimeConfigRequest = message({
  runtimeConfig: field(1, message({ networkConfig: field(1, NetworkConfig) })),
});
