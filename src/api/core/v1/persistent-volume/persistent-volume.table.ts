import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../table-cells.ts';
import { accessModesText } from '../persistent-volume-claim/persistent-volume-claim.table.ts';
import { STORAGE_CLASS_ANNOTATION } from '../persistent-volume-claim/persistent-volume-claim.validation.ts';
import type { PersistentVolume } from './persistent-volume.ts';

export const persistentVolumeTable: TableDefinition<PersistentVolume> = {
  columns: [
    NAME_COLUMN,
    column('Capacity', 'The size of the volume.'),
    column('Access Modes', 'How the volume may be mounted.'),
    column('Reclaim Policy', 'What happens to the volume after its claim.'),
    column('Status', 'Whether the volume is free, bound or released.'),
    column('Claim', 'The claim that has the volume.'),
    column('StorageClass', 'The class of the volume.'),
    column('VolumeAttributesClass', "The class of the volume's attributes."),
    column('Reason', 'Why the volume is in this state.'),
    AGE_COLUMN,
    wideColumn('VolumeMode', 'Whether the volume has a file system.'),
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.capacity?.storage ?? '0',
    accessModesText(spec?.accessModes),
    spec?.persistentVolumeReclaimPolicy ?? '',
    metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
    spec?.volumeAttributesClassName ?? '<unset>',
    status?.reason ?? '',
    ageCell(metadata, now),
    spec?.volumeMode ?? '<unset>',
  ],
};
