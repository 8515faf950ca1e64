import { labelSelectorText, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { CONTAINER_COLUMNS, containerCells, SELECTOR_COLUMN } from '../../core/v1/pod/container-cells.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { podNamePrefixWarnings } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultReplicaSet } from './replica-set.defaults.ts';
import { ReplicaSet } from './replica-set.ts';
import { validateReplicaSet, validateReplicaSetStatusUpdate, validateReplicaSetUpdate } from './replica-set.validation.ts';

const TEMPLATE = Path.of('spec', 'template');

const replicaSetTable: TableDefinition<ReplicaSet> = {
  columns: [
    NAME_COLUMN,
    column('Desired', 'How many pods there are to be.', { type: 'integer' }),
    column('Current', 'How many pods there are.', { type: 'integer' }),
    column('Ready', 'How many pods are ready.', { type: 'integer' }),
    AGE_COLUMN,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageCell(metadata, now),
    ...containerCells(spec?.template),
    labelSelectorText(spec?.selector),
  ],
};

function replicaSetWarnings({ metadata, spec }: ReplicaSet, old?: ReplicaSet): readonly string[] {
  if (!old) return [...podNamePrefixWarnings(metadata.name), ...podTemplateWarnings(spec?.template, TEMPLATE)];
  return metadata.generation === old.metadata.generation ? [] : podTemplateWarnings(spec?.template, TEMPLATE);
}

export const replicaSetBehaviour: KindBehaviour<ReplicaSet> = {
  kind: ReplicaSet,
  defaults: defaultReplicaSet,
  validate: validateReplicaSet,
  validateUpdate: validateReplicaSetUpdate,
  validateStatusUpdate: validateReplicaSetStatusUpdate,
  warnings: replicaSetWarnings,
  table: replicaSetTable,
};
