import { enumeration, field, type MessageOf, message, repeated, stringMap } from '#base';

/** Types shared by several CSI v1 messages. */
export const NOTHING = message({});

const ACCESS_MODES = enumeration(
  'UNKNOWN',
  'SINGLE_NODE_WRITER',
  'SINGLE_NODE_READER_ONLY',
  'MULTI_NODE_READER_ONLY',
  'MULTI_NODE_SINGLE_WRITER',
  'MULTI_NODE_MULTI_WRITER',
  'SINGLE_NODE_SINGLE_WRITER',
  'SINGLE_NODE_MULTI_WRITER',
);

export const VolumeCapability = message({
  block: field(1, NOTHING),
  mount: field(2, message({ fsType: field(1, 'string'), mountFlags: repeated(2, 'string'), volumeMountGroup: field(3, 'string') })),
  accessMode: field(3, message({ mode: field(1, ACCESS_MODES) })),
});
export type VolumeCapability = MessageOf<typeof VolumeCapability>;

export const CapacityRange = message({ requiredBytes: field(1, 'int64'), limitBytes: field(2, 'int64') });
export const Topology = message({ segments: stringMap(1) });
export type Topology = MessageOf<typeof Topology>;
