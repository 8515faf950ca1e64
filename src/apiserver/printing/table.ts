import type { TableDefinition } from '#api';
import { StatusError } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';

export interface TableOptions {
  readonly resource: Printed;
  readonly now: number;
  /** How much of each object goes along with its row. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
}

/** What knows how its objects are printed. */
type Printed = { readonly strategy: { readonly table?: TableDefinition<KubeObject> } };

const DEFAULT_TABLE: TableDefinition<KubeObject> = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: 'The name of the object, unique among its kind in its namespace.' },
    { name: 'Created At', type: 'date', description: 'When the object was created.' },
  ],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? null],
};

export function includeObjectOf(value: string | null): TableOptions['includeObject'] {
  if (value === null || value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  throw StatusError.badRequest(`unrecognized includeObject value: "${value}"`);
}

/** The table that `kubectl get` prints. */
export function tableOf(objects: readonly KubeObject[], listMetadata: Record<string, unknown>, options: TableOptions) {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: listMetadata,
    columnDefinitions: columnsOf(options.resource),
    rows: objects.map((object) => rowOf(object, options)),
  };
}

function definitionOf({ strategy }: Printed): TableDefinition<KubeObject> {
  return strategy.table ?? DEFAULT_TABLE;
}

export function columnsOf(resource: Printed) {
  return definitionOf(resource).columns.map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

export function rowOf(object: KubeObject, { resource, now, includeObject }: TableOptions) {
  const definition = definitionOf(resource);
  const conditions = definition.rowConditions?.(object) ?? [];
  return {
    cells: definition.cells(object, now),
    ...(conditions.length > 0 && { conditions }),
    object: includeObject === 'Object' ? object : includeObject === 'Metadata' ? partialMetadata(object) : null,
  };
}

export function partialMetadata({ metadata }: KubeObject) {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}
