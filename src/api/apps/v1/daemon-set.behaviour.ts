import { labelSelectorText, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { CONTAINER_COLUMNS, containerCells, labelsCell, SELECTOR_COLUMN } from '../../core/v1/pod/container-cells.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { sameValue } from '../../field-checks.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultDaemonSet } from './daemon-set.defaults.ts';
import { DaemonSet } from './daemon-set.ts';
import { validateDaemonSet, validateDaemonSetStatusUpdate, validateDaemonSetUpdate } from './daemon-set.validation.ts';

const TEMPLATE = Path.of('spec', 'template');
const INTEGER = { type: 'integer' } as const;

const daemonSetTable: TableDefinition<DaemonSet> = {
  columns: [
    NAME_COLUMN,
    column('Desired', 'How many nodes are to run the pod.', INTEGER),
    column('Current', 'How many nodes run the pod.', INTEGER),
    column('Ready', 'How many nodes have a pod that is ready.', INTEGER),
    column('Up-to-date', 'How many nodes run the newest template.', INTEGER),
    column('Available', 'How many nodes have a pod that has been ready for long enough.', INTEGER),
    column('Node Selector', 'Which nodes are to run the pod.'),
    AGE_COLUMN,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsCell(spec?.template?.spec?.nodeSelector),
    ageCell(metadata, now),
    ...containerCells(spec?.template),
    labelSelectorText(spec?.selector),
  ],
};

function daemonSetWarnings({ spec }: DaemonSet, old?: DaemonSet): readonly string[] {
  return old && sameValue(spec?.template, old.spec?.template) ? [] : podTemplateWarnings(spec?.template, TEMPLATE);
}

export const daemonSetBehaviour: KindBehaviour<DaemonSet> = {
  kind: DaemonSet,
  defaults: defaultDaemonSet,
  validate: validateDaemonSet,
  validateUpdate: validateDaemonSetUpdate,
  validateStatusUpdate: validateDaemonSetStatusUpdate,
  warnings: daemonSetWarnings,
  table: daemonSetTable,
};
