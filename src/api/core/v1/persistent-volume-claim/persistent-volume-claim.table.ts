import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../table-cells.ts';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import { STORAGE_CLASS_ANNOTATION } from './persistent-volume-claim.validation.ts';

export const persistentVolumeClaimTable: TableDefinition<PersistentVolumeClaim> = {
  columns: [
    NAME_COLUMN,
    column('Status', 'Whether the claim has its volume.'),
    column('Volume', 'The volume that is bound to the claim.'),
    column('Capacity', 'The size of the volume.'),
    column('Access Modes', 'How the volume may be mounted.'),
    column('StorageClass', 'The class of the claim.'),
    column('VolumeAttributesClass', 'The volume attributes class of the claim.'),
    AGE_COLUMN,
    wideColumn('VolumeMode', 'Whether the volume has a file system.'),
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    spec?.volumeName ?? '',
    spec?.volumeName ? (status?.capacity?.storage ?? '0') : '',
    spec?.volumeName ? accessModesText(status?.accessModes) : '',
    metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
    spec?.volumeAttributesClassName ?? '<unset>',
    ageCell(metadata, now),
    spec?.volumeMode ?? '<unset>',
  ],
};

const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export function accessModesText(modes: readonly string[] = []): string {
  return SHORT_MODES.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',');
}
