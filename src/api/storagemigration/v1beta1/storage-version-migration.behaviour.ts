import { groupResourceText } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { column } from '../../table-cells.ts';
import { StorageVersionMigration } from './storage-version-migration.ts';
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from './storage-version-migration.validation.ts';

const STATES: readonly string[] = ['Running', 'Failed', 'Succeeded'];

const table: TableDefinition<StorageVersionMigration> = {
  columns: [
    column('Name', 'The name of the migration.'),
    column('Resource', 'Whose objects are written again.'),
    column('Status', 'How far the migration is.'),
  ],
  cells: ({ metadata, spec, status }) => {
    const reached = status?.conditions?.findLast(({ type, status: is }) => is === 'True' && STATES.includes(type));
    return [metadata.name, groupResourceText(spec?.resource ?? { group: '', resource: '' }), reached?.type ?? 'Unknown'];
  },
};

export const storageVersionMigrationBehaviour: KindBehaviour<StorageVersionMigration> = {
  kind: StorageVersionMigration,
  validate: validateStorageVersionMigration,
  validateUpdate: validateStorageVersionMigrationUpdate,
  validateStatusUpdate: validateStorageVersionMigrationStatus,
  table,
};
