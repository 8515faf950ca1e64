import { checkDns1123Label, Path } from '#machinery';
import type { KindBehaviour } from '../../../behaviour.ts';
import { labelsCell } from '../pod/container-cells.ts';
import { podTemplateWarnings } from '../pod/pod.warnings.ts';
import { replicaTable } from './replica-table.ts';
import { defaultReplicationController } from './replication-controller.defaults.ts';
import { ReplicationController } from './replication-controller.ts';
import {
  validateReplicationController,
  validateReplicationControllerStatusUpdate,
  validateReplicationControllerUpdate,
} from './replication-controller.validation.ts';

const TEMPLATE = Path.of('spec', 'template');

/** Names that become part of pod names should be valid hostnames. */
export function podNamePrefixWarnings(name: string): readonly string[] {
  const problems = checkDns1123Label(name);
  if (problems.length === 0) return [];
  const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: ${advice}: [${problems.join(' ')}]`];
}

function replicationControllerWarnings(controller: ReplicationController, old?: ReplicationController): readonly string[] {
  if (!old) return [...podNamePrefixWarnings(controller.metadata.name), ...podTemplateWarnings(controller.spec?.template, TEMPLATE)];
  // Upstream uses the old template.
  return old.metadata.generation === controller.metadata.generation ? [] : podTemplateWarnings(old.spec?.template, TEMPLATE);
}

export const replicationControllerBehaviour: KindBehaviour<ReplicationController> = {
  kind: ReplicationController,
  defaults: defaultReplicationController,
  validate: validateReplicationController,
  validateUpdate: validateReplicationControllerUpdate,
  validateStatusUpdate: validateReplicationControllerStatusUpdate,
  warnings: replicationControllerWarnings,
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  table: replicaTable(({ spec }) => labelsCell(spec?.selector)),
};
