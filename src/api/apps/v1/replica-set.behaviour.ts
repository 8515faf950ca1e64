import { labelSelectorText, Path } from '#machinery';
import type { KindBehaviour } from '../../behaviour.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { replicaTable } from '../../core/v1/replication-controller/replica-table.ts';
import { podNamePrefixWarnings } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { defaultReplicaSet } from './replica-set.defaults.ts';
import { ReplicaSet } from './replica-set.ts';
import { validateReplicaSet, validateReplicaSetStatusUpdate, validateReplicaSetUpdate } from './replica-set.validation.ts';

const TEMPLATE = Path.of('spec', 'template');

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
  table: replicaTable(({ spec }) => labelSelectorText(spec?.selector)),
};
