import { Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { claimSpecWarnings } from '../../core/v1/persistent-volume-claim/persistent-volume-claim.warnings.ts';
import { CONTAINER_COLUMNS, containerCells } from '../../core/v1/pod/container-cells.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultStatefulSet } from './stateful-set.defaults.ts';
import { StatefulSet } from './stateful-set.ts';
import { validateStatefulSet, validateStatefulSetStatusUpdate, validateStatefulSetUpdate } from './stateful-set.validation.ts';

const TEMPLATE = Path.of('spec', 'template');
const CLAIMS = Path.of('spec', 'volumeClaimTemplates');

const statefulSetTable: TableDefinition<StatefulSet> = {
  columns: [NAME_COLUMN, column('Ready', 'How many of the pods are ready.'), AGE_COLUMN, ...CONTAINER_COLUMNS],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ageCell(metadata, now),
    ...containerCells(spec?.template),
  ],
};

function statefulSetWarnings({ metadata, spec }: StatefulSet, old?: StatefulSet): readonly string[] {
  const isSame = old !== undefined && old.metadata.generation === metadata.generation;
  const claims = (spec?.volumeClaimTemplates ?? []).flatMap((claim, i) => {
    const path = CLAIMS.index(i);
    return claimSpecWarnings(claim.spec ?? {}, old ? path.child('Spec') : path);
  });
  const keepsAll = (spec?.revisionHistoryLimit ?? 0) < 0;
  return [
    ...(isSame ? [] : podTemplateWarnings(spec?.template, TEMPLATE)),
    ...claims,
    ...(keepsAll ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'] : []),
  ];
}

export const statefulSetBehaviour: KindBehaviour<StatefulSet> = {
  kind: StatefulSet,
  defaults: defaultStatefulSet,
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  validateStatusUpdate: validateStatefulSetStatusUpdate,
  warnings: statefulSetWarnings,
  table: statefulSetTable,
};
