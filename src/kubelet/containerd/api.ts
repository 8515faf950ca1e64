/** The parts of containerd's own API that importing and mounting images needs, with the field numbers of its protos. */
import { embedded, enumeration, field, message, repeated, stringMap } from '#base';

const Empty = message({});
const FieldMask = message({ paths: repeated(1, 'string') });
const Timestamp = message({ seconds: field(1, 'int64'), nanos: field(2, 'int32') });

const Info = message({ digest: field(1, 'string'), size: field(2, 'int64'), labels: stringMap(5) });
const WriteAction = enumeration('stat', 'write', 'commit');

export const WriteRequest = message({
  action: field(1, WriteAction),
  ref: field(2, 'string'),
  total: field(3, 'int64'),
  expected: field(4, 'string'),
  offset: field(5, 'int64'),
  data: field(6, 'bytes'),
  labels: stringMap(7),
});
export const WriteResponse = message({ action: field(1, WriteAction), offset: field(4, 'int64'), digest: field(6, 'string') });

/** Many requests, each with a response. */
export const WRITE_METHOD = 'containerd.services.content.v1.Content/Write';

export const content = {
  info: {
    name: 'containerd.services.content.v1.Content/Info',
    request: message({ digest: field(1, 'string') }),
    response: message({ info: embedded(1, Info) }),
  },
  update: {
    name: 'containerd.services.content.v1.Content/Update',
    request: message({ info: field(1, Info), updateMask: field(2, FieldMask) }),
    response: message({ info: embedded(1, Info) }),
  },
  read: {
    name: 'containerd.services.content.v1.Content/Read',
    request: message({ digest: field(1, 'string'), offset: field(2, 'int64'), size: field(3, 'int64') }),
    response: message({ offset: field(1, 'int64'), data: field(2, 'bytes') }),
  },
  abort: { name: 'containerd.services.content.v1.Content/Abort', request: message({ ref: field(1, 'string') }), response: Empty },
};

const Descriptor = message({
  mediaType: field(1, 'string'),
  digest: field(2, 'string'),
  size: field(3, 'int64'),
  annotations: stringMap(5),
});

const Image = message({
  name: field(1, 'string'),
  labels: stringMap(2),
  target: embedded(3, Descriptor),
  createdAt: field(7, Timestamp),
  updatedAt: field(8, Timestamp),
});

export const images = {
  get: {
    name: 'containerd.services.images.v1.Images/Get',
    request: message({ name: field(1, 'string') }),
    response: message({ image: embedded(1, Image) }),
  },
  create: {
    name: 'containerd.services.images.v1.Images/Create',
    request: message({ image: field(1, Image) }),
    response: message({ image: embedded(1, Image) }),
  },
  update: {
    name: 'containerd.services.images.v1.Images/Update',
    request: message({ image: field(1, Image), updateMask: field(2, FieldMask) }),
    response: message({ image: embedded(1, Image) }),
  },
};

const Mount = message({ type: field(1, 'string'), source: field(2, 'string'), target: field(3, 'string'), options: repeated(4, 'string') });
const Mounts = message({ mounts: repeated(1, Mount) });
const NewSnapshot = message({ snapshotter: field(1, 'string'), key: field(2, 'string'), parent: field(3, 'string'), labels: stringMap(4) });
const SnapshotKey = message({ snapshotter: field(1, 'string'), key: field(2, 'string') });

const snapshotsService = 'containerd.services.snapshots.v1.Snapshots';
export const snapshots = {
  prepare: { name: `${snapshotsService}/Prepare`, request: NewSnapshot, response: Mounts },
  view: { name: `${snapshotsService}/View`, request: NewSnapshot, response: Mounts },
  mounts: { name: `${snapshotsService}/Mounts`, request: SnapshotKey, response: Mounts },
  stat: { name: `${snapshotsService}/Stat`, request: SnapshotKey, response: Empty },
  remove: { name: `${snapshotsService}/Remove`, request: SnapshotKey, response: Empty },
  commit: {
    name: `${snapshotsService}/Commit`,
    request: message({ snapshotter: field(1, 'string'), name: field(2, 'string'), key: field(3, 'string'), labels: stringMap(4) }),
    response: Empty,
  },
};

export const applyDiff = {
  name: 'containerd.services.diff.v1.Diff/Apply',
  request: message({ diff: field(1, Descriptor), mounts: repeated(2, Mount) }),
  response: message({ applied: embedded(1, Descriptor) }),
};

export const leases = {
  create: {
    name: 'containerd.services.leases.v1.Leases/Create',
    request: message({ id: field(1, 'string'), labels: stringMap(3) }),
    response: Empty,
  },
  delete: {
    name: 'containerd.services.leases.v1.Leases/Delete',
    request: message({ id: field(1, 'string'), sync: field(2, 'bool') }),
    response: Empty,
  },
};

export const namespaces = {
  create: {
    name: 'containerd.services.namespaces.v1.Namespaces/Create',
    request: message({ namespace: field(1, message({ name: field(1, 'string'), labels: stringMap(2) })) }),
    response: Empty,
  },
};

export const version = {
  name: 'containerd.services.version.v1.Version/Version',
  request: Empty,
  response: message({ version: field(1, 'string'), revision: field(2, 'string') }),
};
