import { Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { CONTAINER_COLUMNS, containerCells, SELECTOR_COLUMN } from '../../core/v1/pod/container-cells.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { workloadSelector } from '../../core/v1/pod-template/workload-template.validation.ts';
import { podNamePrefixWarnings } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultDeployment } from './deployment.defaults.ts';
import { Deployment } from './deployment.ts';
import { validateDeployment, validateDeploymentStatusUpdate, validateDeploymentUpdate } from './deployment.validation.ts';

const TEMPLATE = Path.of('spec', 'template');

const deploymentTable: TableDefinition<Deployment> = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'How many of the pods are ready.'),
    column('Up-to-date', 'How many pods have the newest template.'),
    column('Available', 'How many pods have been ready for long enough.'),
    AGE_COLUMN,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  cells: ({ metadata, spec, status = {} }, now) => [
    metadata.name,
    `${status.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status.updatedReplicas ?? 0,
    status.availableReplicas ?? 0,
    ageCell(metadata, now),
    ...containerCells(spec?.template),
    workloadSelector(spec?.selector)?.toString() ?? '<invalid>',
  ],
};

function deploymentWarnings({ metadata, spec }: Deployment, old?: Deployment): readonly string[] {
  if (!old) return [...podNamePrefixWarnings(metadata.name), ...podTemplateWarnings(spec?.template, TEMPLATE)];
  return metadata.generation === old.metadata.generation ? [] : podTemplateWarnings(spec?.template, TEMPLATE);
}

export const deploymentBehaviour: KindBehaviour<Deployment> = {
  kind: Deployment,
  defaults: defaultDeployment,
  validate: validateDeployment,
  validateUpdate: validateDeploymentUpdate,
  validateStatusUpdate: validateDeploymentStatusUpdate,
  warnings: deploymentWarnings,
  table: deploymentTable,
};
