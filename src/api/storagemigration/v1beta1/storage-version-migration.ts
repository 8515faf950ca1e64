import { Condition } from '../../meta/v1/condition.ts';
import { GroupResource } from '../../meta/v1/group-resource.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, mapListOf, object, required, string } from '../../schema.ts';

export const StorageVersionMigrationSpec = object(
  'io.k8s.api.storagemigration.v1beta1.StorageVersionMigrationSpec',
  'Whose objects are to be written again.',
  { resource: required(1, GroupResource, 'The resource. Cannot be changed.') },
);
export type StorageVersionMigrationSpec = Infer<typeof StorageVersionMigrationSpec>;

export const StorageVersionMigrationStatus = object(
  'io.k8s.api.storagemigration.v1beta1.StorageVersionMigrationStatus',
  'How far the migration is.',
  {
    conditions: field(1, mapListOf(Condition, 'type'), 'Running, Succeeded or Failed.', { merge: 'type' }),
    resourceVersion: field(2, string, 'What was written later than this is in the storage version already.'),
  },
);
export type StorageVersionMigrationStatus = Infer<typeof StorageVersionMigrationStatus>;

export const StorageVersionMigration = kind(
  {
    name: 'io.k8s.api.storagemigration.v1beta1.StorageVersionMigration',
    group: 'storagemigration.k8s.io',
    version: 'v1beta1',
    kind: 'StorageVersionMigration',
    resource: 'storageversionmigrations',
    namespaced: false,
    lifecycle: { introduced: '1.35', deprecated: '1.38', removed: '1.41' },
    featureGate: 'StorageVersionMigrator',
  },
  'Writes all objects of a resource again, in the version, encoding and encryption in which they are stored today.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, StorageVersionMigrationSpec, 'What is migrated.'),
    status: always(3, StorageVersionMigrationStatus, 'How far the migration is.'),
  },
);
export type StorageVersionMigration = Infer<typeof StorageVersionMigration>;
