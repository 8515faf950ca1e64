import { enumeration, field, type MessageOf, message, repeated, stringMap } from '#base';
import { CapacityRange, NOTHING, Topology, VolumeCapability } from './message-types.ts';

/** CSI controller service: creates, attaches, expands, snapshots and modifies volumes. */
export const CONTROLLER_CAPABILITIES = enumeration(
  'UNKNOWN',
  'CREATE_DELETE_VOLUME',
  'PUBLISH_UNPUBLISH_VOLUME',
  'LIST_VOLUMES',
  'GET_CAPACITY',
  'CREATE_DELETE_SNAPSHOT',
  'LIST_SNAPSHOTS',
  'CLONE_VOLUME',
  'PUBLISH_READONLY',
  'EXPAND_VOLUME',
  'LIST_VOLUMES_PUBLISHED_NODES',
  'VOLUME_CONDITION',
  'GET_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
  'MODIFY_VOLUME',
);
export const ControllerGetCapabilities = {
  name: 'csi.v1.Controller/ControllerGetCapabilities',
  request: NOTHING,
  response: message({ capabilities: repeated(1, message({ rpc: field(1, message({ type: field(1, CONTROLLER_CAPABILITIES) })) })) }),
};

export type ContentSource = MessageOf<typeof VolumeContentSource>;
const VolumeContentSource = message({
  snapshot: field(1, message({ snapshotId: field(1, 'string') })),
  volume: field(2, message({ volumeId: field(1, 'string') })),
});
const Volume = message({
  capacityBytes: field(1, 'int64'),
  volumeId: field(2, 'string'),
  volumeContext: stringMap(3),
  contentSource: field(4, VolumeContentSource),
  accessibleTopology: repeated(5, Topology),
});
export const CreateVolume = {
  name: 'csi.v1.Controller/CreateVolume',
  request: message({
    name: field(1, 'string'),
    capacityRange: field(2, CapacityRange),
    volumeCapabilities: repeated(3, VolumeCapability),
    parameters: stringMap(4),
    secrets: stringMap(5),
    volumeContentSource: field(6, VolumeContentSource),
    accessibilityRequirements: field(7, message({ requisite: repeated(1, Topology), preferred: repeated(2, Topology) })),
    mutableParameters: stringMap(8),
  }),
  response: message({ volume: field(1, Volume) }),
};
export type CreateVolumeRequest = Parameters<typeof CreateVolume.request.encode>[0];
export const DeleteVolume = {
  name: 'csi.v1.Controller/DeleteVolume',
  request: message({ volumeId: field(1, 'string'), secrets: stringMap(2) }),
  response: NOTHING,
};
export const ControllerPublishVolume = {
  name: 'csi.v1.Controller/ControllerPublishVolume',
  request: message({
    volumeId: field(1, 'string'),
    nodeId: field(2, 'string'),
    volumeCapability: field(3, VolumeCapability),
    readonly: field(4, 'bool'),
    secrets: stringMap(5),
    volumeContext: stringMap(6),
  }),
  response: message({ publishContext: stringMap(1) }),
};
export const ControllerUnpublishVolume = {
  name: 'csi.v1.Controller/ControllerUnpublishVolume',
  request: message({ volumeId: field(1, 'string'), nodeId: field(2, 'string'), secrets: stringMap(3) }),
  response: NOTHING,
};
export const ControllerExpandVolume = {
  name: 'csi.v1.Controller/ControllerExpandVolume',
  request: message({
    volumeId: field(1, 'string'),
    capacityRange: field(2, CapacityRange),
    secrets: stringMap(3),
    volumeCapability: field(4, VolumeCapability),
  }),
  response: message({ capacityBytes: field(1, 'int64'), nodeExpansionRequired: field(2, 'bool') }),
};

export const ControllerModifyVolume = {
  name: 'csi.v1.Controller/ControllerModifyVolume',
  request: message({ volumeId: field(1, 'string'), secrets: stringMap(2), mutableParameters: stringMap(3) }),
  response: NOTHING,
};
export const ValidateVolumeCapabilities = {
  name: 'csi.v1.Controller/ValidateVolumeCapabilities',
  request: message({
    volumeId: field(1, 'string'),
    volumeContext: stringMap(2),
    volumeCapabilities: repeated(3, VolumeCapability),
    parameters: stringMap(4),
    secrets: stringMap(5),
  }),
  response: message({
    confirmed: field(
      1,
      message({ volumeContext: stringMap(1), volumeCapabilities: repeated(2, VolumeCapability), parameters: stringMap(3) }),
    ),
    message: field(2, 'string'),
  }),
};
const Int64Value = message({ value: field(1, 'int64') });
export const GetCapacity = {
  name: 'csi.v1.Controller/GetCapacity',
  request: message({ volumeCapabilities: repeated(1, VolumeCapability), parameters: stringMap(2), accessibleTopology: field(3, Topology) }),
  response: message({
    availableCapacity: field(1, 'int64'),
    maximumVolumeSize: field(2, Int64Value),
    minimumVolumeSize: field(3, Int64Value),
  }),
};

const Snapshot = message({
  sizeBytes: field(1, 'int64'),
  snapshotId: field(2, 'string'),
  sourceVolumeId: field(3, 'string'),
  creationTime: field(4, message({ seconds: field(1, 'int64'), nanos: field(2, 'int32') })),
  readyToUse: field(5, 'bool'),
  groupSnapshotId: field(6, 'string'),
});
export type Snapshot = MessageOf<typeof Snapshot>;
export const CreateSnapshot = {
  name: 'csi.v1.Controller/CreateSnapshot',
  request: message({
    sourceVolumeId: field(1, 'string'),
    name: field(2, 'string'),
    secrets: stringMap(3),
    parameters: stringMap(4),
  }),
  response: message({ snapshot: field(1, Snapshot) }),
};
export const DeleteSnapshot = {
  name: 'csi.v1.Controller/DeleteSnapshot',
  request: message({ snapshotId: field(1, 'string'), secrets: stringMap(2) }),
  response: NOTHING,
};
export const ListSnapshots = {
  name: 'csi.v1.Controller/ListSnapshots',
  request: message({
    maxEntries: field(1, 'int32'),
    startingToken: field(2, 'string'),
    sourceVolumeId: field(3, 'string'),
    snapshotId: field(4, 'string'),
    secrets: stringMap(5),
  }),
  response: message({ entries: repeated(1, message({ snapshot: field(1, Snapshot) })), nextToken: field(2, 'string') }),
};
