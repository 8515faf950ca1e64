import type { KindBehaviour } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../table-cells.ts';
import { Workload } from './workload.ts';
import { validateWorkload, validateWorkloadUpdate } from './workload.validation.ts';

export const workloadBehaviour: KindBehaviour<Workload> = {
  kind: Workload,
  validate: validateWorkload,
  validateUpdate: validateWorkloadUpdate,
  table: { columns: [NAME_COLUMN, AGE_COLUMN], cells: ({ metadata }, now) => [metadata.name, ageCell(metadata, now)] },
};
