import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { VolumeAttachment } from './volume-attachment.ts';

export const volumeAttachmentTable: TableDefinition<VolumeAttachment> = {
  columns: [
    NAME_COLUMN,
    column('Attacher', 'The driver that attaches.', { format: 'name' }),
    column('PV', 'The volume to attach.'),
    column('Node', 'The node to attach it to.'),
    column('Attached', 'Whether it is attached.', { type: 'boolean' }),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.attacher ?? '',
    spec?.source?.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached ?? false,
    ageCell(metadata, now),
  ],
};
