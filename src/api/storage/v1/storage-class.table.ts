import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { StorageClass } from './storage-class.ts';

const DEFAULT_ANNOTATIONS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const storageClassTable: TableDefinition<StorageClass> = {
  columns: [
    NAME_COLUMN,
    column('Provisioner', 'What makes volumes of this class.'),
    column('ReclaimPolicy', 'What happens to a volume after its claim.'),
    column('VolumeBindingMode', 'When volumes are made.'),
    column('AllowVolumeExpansion', 'Whether volumes can grow.'),
    AGE_COLUMN,
  ],
  cells: (storageClass, now) => [
    isDefault(storageClass) ? `${storageClass.metadata.name} (default)` : storageClass.metadata.name,
    storageClass.provisioner ?? '',
    storageClass.reclaimPolicy ?? 'Delete',
    storageClass.volumeBindingMode ?? 'Immediate',
    storageClass.allowVolumeExpansion ?? false,
    ageCell(storageClass.metadata, now),
  ],
};

function isDefault({ metadata }: StorageClass): boolean {
  return DEFAULT_ANNOTATIONS.some((name) => metadata.annotations?.[name] === 'true');
}
