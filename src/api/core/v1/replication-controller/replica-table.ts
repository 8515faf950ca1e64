import type { TableDefinition } from '../../../behaviour.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../table-cells.ts';
import { CONTAINER_COLUMNS, containerCells, SELECTOR_COLUMN } from '../pod/container-cells.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';

interface ReplicatedObject {
  readonly metadata: ObjectMeta & { readonly name: string };
  readonly spec?: { readonly replicas?: number; readonly template?: PodTemplateSpec };
  readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
}

/** The table of ReplicaSets and ReplicationControllers, which have different selectors. */
export function replicaTable<T extends ReplicatedObject>(selectorCell: (object: T) => string): TableDefinition<T> {
  return {
    columns: [
      NAME_COLUMN,
      column('Desired', 'The desired number of pods.', { type: 'integer' }),
      column('Current', 'The number of pods.', { type: 'integer' }),
      column('Ready', 'The number of ready pods.', { type: 'integer' }),
      AGE_COLUMN,
      ...CONTAINER_COLUMNS,
      SELECTOR_COLUMN,
    ],
    cells: (object, now) => [
      object.metadata.name,
      object.spec?.replicas ?? 0,
      object.status?.replicas ?? 0,
      object.status?.readyReplicas ?? 0,
      ageCell(object.metadata, now),
      ...containerCells(object.spec?.template),
      selectorCell(object),
    ],
  };
}
