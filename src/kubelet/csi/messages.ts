import { enumeration, field, message, repeated, stringMap } from '#base';
import { CapacityRange, NOTHING, Topology, VolumeCapability } from './message-types.ts';

export * from './controller-messages.ts';
export { NOTHING, type Topology, type VolumeCapability } from './message-types.ts';

/** CSI v1 messages of the identity and node services, with the published field numbers. */
export const GetPluginInfo = {
  name: 'csi.v1.Identity/GetPluginInfo',
  request: NOTHING,
  response: message({ name: field(1, 'string'), vendorVersion: field(2, 'string') }),
};

const PLUGIN_SERVICES = enumeration('UNKNOWN', 'CONTROLLER_SERVICE', 'VOLUME_ACCESSIBILITY_CONSTRAINTS', 'GROUP_CONTROLLER_SERVICE');
export const GetPluginCapabilities = {
  name: 'csi.v1.Identity/GetPluginCapabilities',
  request: NOTHING,
  response: message({ capabilities: repeated(1, message({ service: field(1, message({ type: field(1, PLUGIN_SERVICES) })) })) }),
};

export const Probe = {
  name: 'csi.v1.Identity/Probe',
  request: NOTHING,
  response: message({ ready: field(1, message({ value: field(1, 'bool') })) }),
};

export const NODE_CAPABILITIES = enumeration(
  'UNKNOWN',
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
  'VOLUME_MOUNT_GROUP',
);
export const NodeGetCapabilities = {
  name: 'csi.v1.Node/NodeGetCapabilities',
  request: NOTHING,
  response: message({ capabilities: repeated(1, message({ rpc: field(1, message({ type: field(1, NODE_CAPABILITIES) })) })) }),
};
export const NodeGetInfo = {
  name: 'csi.v1.Node/NodeGetInfo',
  request: NOTHING,
  response: message({ nodeId: field(1, 'string'), maxVolumesPerNode: field(2, 'int64'), accessibleTopology: field(3, Topology) }),
};
export const NodeStageVolume = {
  name: 'csi.v1.Node/NodeStageVolume',
  request: message({
    volumeId: field(1, 'string'),
    publishContext: stringMap(2),
    stagingTargetPath: field(3, 'string'),
    volumeCapability: field(4, VolumeCapability),
    secrets: stringMap(5),
    volumeContext: stringMap(6),
  }),
  response: NOTHING,
};
export const NodeUnstageVolume = {
  name: 'csi.v1.Node/NodeUnstageVolume',
  request: message({ volumeId: field(1, 'string'), stagingTargetPath: field(2, 'string') }),
  response: NOTHING,
};
export const NodePublishVolume = {
  name: 'csi.v1.Node/NodePublishVolume',
  request: message({
    volumeId: field(1, 'string'),
    publishContext: stringMap(2),
    stagingTargetPath: field(3, 'string'),
    targetPath: field(4, 'string'),
    volumeCapability: field(5, VolumeCapability),
    readonly: field(6, 'bool'),
    secrets: stringMap(7),
    volumeContext: stringMap(8),
  }),
  response: NOTHING,
};
export const NodeUnpublishVolume = {
  name: 'csi.v1.Node/NodeUnpublishVolume',
  request: message({ volumeId: field(1, 'string'), targetPath: field(2, 'string') }),
  response: NOTHING,
};
export const NodeExpandVolume = {
  name: 'csi.v1.Node/NodeExpandVolume',
  request: message({
    volumeId: field(1, 'string'),
    volumePath: field(2, 'string'),
    capacityRange: field(3, CapacityRange),
    stagingTargetPath: field(4, 'string'),
    volumeCapability: field(5, VolumeCapability),
    secrets: stringMap(6),
  }),
  response: message({ capacityBytes: field(1, 'int64') }),
};

const UNITS = enumeration('UNKNOWN', 'BYTES', 'INODES');
export const NodeGetVolumeStats = {
  name: 'csi.v1.Node/NodeGetVolumeStats',
  request: message({ volumeId: field(1, 'string'), volumePath: field(2, 'string'), stagingTargetPath: field(3, 'string') }),
  response: message({
    usage: repeated(1, message({ available: field(1, 'int64'), total: field(2, 'int64'), used: field(3, 'int64'), unit: field(4, UNITS) })),
    volumeCondition: field(2, message({ abnormal: field(1, 'bool'), message: field(2, 'string') })),
  }),
};

/** The kubelet's plugin registration API. */
export const GetRegistrationInfo = {
  name: 'pluginregistration.Registration/GetInfo',
  request: NOTHING,
  response: message({
    type: field(1, 'string'),
    name: field(2, 'string'),
    endpoint: field(3, 'string'),
    supportedVersions: repeated(4, 'string'),
  }),
};
export const NotifyRegistrationStatus = {
  name: 'pluginregistration.Registration/NotifyRegistrationStatus',
  request: message({ pluginRegistered: field(1, 'bool'), error: field(2, 'string') }),
  response: NOTHING,
};
