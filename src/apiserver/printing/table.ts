import type { TableDefinition } from '#api';
import { FieldError, Path, StatusError } from '#machinery';
import type { KubeObject } from '../watch-cache/kube-object.ts';

export interface TableOptions {
  readonly resource: PrintableResource;
  readonly now: number;
  /** How much of each object a row includes. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  /** The table's apiVersion, `meta.k8s.io/v1` by default. */
  readonly apiVersion?: string | undefined;
}

/** A resource with table columns. */
export interface PrintableResource {
  readonly strategy: { readonly table?: TableDefinition<KubeObject>; readonly internalAnnotations?: readonly string[] };
}

export const META_V1 = 'meta.k8s.io/v1';
/** How an unset time is printed. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

const DEFAULT_TABLE: TableDefinition<KubeObject> = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: 'The name of the object, unique among its kind in its namespace.' },
    { name: 'Created At', type: 'date', description: 'When the object was created.' },
  ],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ZERO_TIME],
};

export function includeObjectOf(value: string | null): TableOptions['includeObject'] {
  if (value === null || value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  const error = FieldError.invalid(Path.of('includeObject'), value, "must be 'Metadata', 'Object', 'None', or empty");
  throw StatusError.badRequest(`Unable to convert to Table as requested: ${error}`);
}

/** The table that `kubectl get` prints. */
export function tableOf(objects: readonly KubeObject[], listMetadata: Record<string, unknown>, options: TableOptions) {
  return { ...tableHead(listMetadata, options), rows: [...tableRows(objects, options)] };
}

/** A Table without its rows. */
export function tableHead(listMetadata: Record<string, unknown>, options: TableOptions) {
  const apiVersion = options.apiVersion ?? META_V1;
  return { kind: 'Table', apiVersion, metadata: listMetadata, columnDefinitions: columnsOf(options.resource) };
}

/** Rows, generated lazily. */
export function* tableRows(objects: readonly KubeObject[], options: TableOptions) {
  for (const object of ordered(objects, options.resource)) yield rowOf(object, options);
}

function ordered(objects: readonly KubeObject[], resource: PrintableResource): readonly KubeObject[] {
  const { rowOrder } = definitionOf(resource);
  return rowOrder === undefined ? objects : [...objects].sort(rowOrder);
}

function definitionOf({ strategy }: PrintableResource): TableDefinition<KubeObject> {
  return strategy.table ?? DEFAULT_TABLE;
}

export function columnsOf(resource: PrintableResource) {
  return definitionOf(resource).columns.map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

export function rowOf(object: KubeObject, { resource, now, includeObject, apiVersion }: TableOptions) {
  const definition = definitionOf(resource);
  const conditions = definition.rowConditions?.(object) ?? [];
  return {
    cells: definition.cells(object, now),
    ...(conditions.length > 0 && { conditions }),
    object: includeObject === 'Object' ? object : includeObject === 'Metadata' ? partialMetadata(object, resource, apiVersion) : null,
  };
}

export function partialMetadata({ metadata }: KubeObject, { strategy }: PrintableResource, apiVersion = META_V1) {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: withoutAnnotations(metadata, strategy.internalAnnotations) };
}

type Metadata = KubeObject['metadata'];

/** Metadata alone is taken from upstream's internal version, which has fields for some annotations. */
function withoutAnnotations(metadata: Metadata, hidden: readonly string[] | undefined): Metadata {
  const { annotations, ...rest } = metadata;
  if (annotations === undefined || !hidden?.some((key) => Object.hasOwn(annotations, key))) return metadata;
  const shownAnnotations = Object.entries(annotations).filter(([key]) => !hidden.includes(key));
  return shownAnnotations.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(shownAnnotations) };
}
