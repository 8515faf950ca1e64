import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { CSIDriver } from './csi-driver.ts';

const BOOLEAN = { type: 'boolean' } as const;

export const csiDriverTable: TableDefinition<CSIDriver> = {
  columns: [
    NAME_COLUMN,
    column('AttachRequired', 'Whether volumes must be attached before they are mounted.', BOOLEAN),
    column('PodInfoOnMount', 'Whether the driver gets information about the pod.', BOOLEAN),
    column('StorageCapacity', 'Whether the driver reports free capacity.', BOOLEAN),
    column('TokenRequests', 'The audiences of tokens that the driver gets.'),
    column('RequiresRepublish', 'Whether volumes are published again and again.', BOOLEAN),
    column('Modes', 'The sorts of volumes that the driver knows.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.attachRequired ?? true,
    spec?.podInfoOnMount ?? false,
    spec?.storageCapacity ?? false,
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience).join(',') : '<unset>',
    spec?.requiresRepublish ?? false,
    (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
    ageCell(metadata, now),
  ],
};
