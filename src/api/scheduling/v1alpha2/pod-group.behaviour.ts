import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { PodGroup } from './pod-group.ts';
import { validatePodGroup, validatePodGroupStatus, validatePodGroupUpdate } from './pod-group.validation.ts';

const table: TableDefinition<PodGroup> = {
  columns: [
    NAME_COLUMN,
    column('Policy', 'Whether pods are scheduled together or one by one.'),
    column('Workload', 'The workload that the group was made for.'),
    column('Status', 'What became of the group.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic',
    spec?.podGroupTemplateRef ? (spec.podGroupTemplateRef.workload?.workloadName ?? '') : '<none>',
    statusCell(status),
    ageCell(metadata, now),
  ],
};

function statusCell(status: PodGroup['status']): string {
  const conditionOf = (type: string) => status?.conditions?.findLast((condition) => condition.type === type);
  const disruption = conditionOf('DisruptionTarget');
  if (disruption) return disruption.reason ?? '';
  const scheduled = conditionOf('PodGroupScheduled');
  if (!scheduled) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

export const podGroupBehaviour: KindBehaviour<PodGroup> = {
  kind: PodGroup,
  validate: validatePodGroup,
  validateUpdate: validatePodGroupUpdate,
  validateStatusUpdate: validatePodGroupStatus,
  table,
};
