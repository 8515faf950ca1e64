import type { storagemigrationV1beta1 } from '#api';

type Migration = storagemigrationV1beta1.StorageVersionMigration;

/** `begin`: set Running. `checkpoint`: record the resource version up to which objects are rewritten. `migrate`: rewrite them. */
export type MigrationStep = 'none' | 'begin' | 'checkpoint' | 'migrate';

/** The next step of a migration. Migrations of one resource run one at a time, oldest first. */
export function migrationStep(migration: Migration, all: readonly Migration[]): MigrationStep {
  if (isOver(migration)) return 'none';
  if (!isTrue(migration, 'Running')) return mayBegin(migration, all) ? 'begin' : 'none';
  return migration.status?.resourceVersion ? 'migrate' : 'checkpoint';
}

function mayBegin(migration: Migration, all: readonly Migration[]): boolean {
  return !all.some(
    (other) =>
      other.metadata.name !== migration.metadata.name &&
      isSameResource(other, migration) &&
      !isOver(other) &&
      (isTrue(other, 'Running') || isBefore(other, migration)),
  );
}

function isSameResource({ spec: a }: Migration, { spec: b }: Migration): boolean {
  return a?.resource.group === b?.resource.group && a?.resource.resource === b?.resource.resource;
}

function isBefore({ metadata: a }: Migration, { metadata: b }: Migration): boolean {
  const [aTime = '', bTime = ''] = [a.creationTimestamp, b.creationTimestamp];
  return aTime === bTime ? a.name < b.name : aTime < bTime;
}

function isOver(migration: Migration): boolean {
  return isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed');
}

function isTrue({ status }: Migration, type: string): boolean {
  return status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
}
