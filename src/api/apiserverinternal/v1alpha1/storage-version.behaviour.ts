import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, listCell, NAME_COLUMN } from '../../table-cells.ts';
import { StorageVersion } from './storage-version.ts';
import { validateStorageVersion, validateStorageVersionStatus } from './storage-version.validation.ts';

const table: TableDefinition<StorageVersion> = {
  columns: [
    NAME_COLUMN,
    column('CommonEncodingVersion', 'The version in which all servers write, if they agree.'),
    column('StorageVersions', 'The version in which each server writes.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, status }, now) => [
    metadata.name,
    status?.commonEncodingVersion ?? '<unset>',
    listCell((status?.storageVersions ?? []).map(({ apiServerID, encodingVersion }) => `${apiServerID}=${encodingVersion}`)),
    ageCell(metadata, now),
  ],
};

export const storageVersionBehaviour: KindBehaviour<StorageVersion> = {
  kind: StorageVersion,
  validate: validateStorageVersion,
  // The spec is empty: upstream has no update validation.
  validateUpdate: () => [],
  validateStatusUpdate: validateStorageVersionStatus,
  table,
};
