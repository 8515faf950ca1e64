import { JsonPath, JsonPathError, type JsonValue, jsonPathText, parseTime } from '#machinery';
import type { TableColumn, TableDefinition } from '../../behaviour.ts';
import type { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { NAME_COLUMN, sinceCell } from '../../table-cells.ts';
import type { CustomResource } from './custom-resource.behaviour.ts';
import type { CustomResourceColumnDefinition } from './custom-resource-definition-spec.ts';

const AGE: CustomResourceColumnDefinition = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

// A column with an invalid path ends the table, as upstream.
export function customTable(declared: readonly CustomResourceColumnDefinition[]): TableDefinition<CustomResource> {
  const columns: { readonly column: TableColumn; readonly path: JsonPath }[] = [];
  for (const definition of declared.length === 0 ? [AGE] : declared) {
    const path = readPath(definition.jsonPath);
    if (path === undefined) break;
    columns.push({ column: tableColumn(definition), path });
  }
  return {
    columns: [NAME_COLUMN, ...columns.map(({ column }) => column)],
    cells: (object, now) => [
      (object.metadata as unknown as ObjectMeta).name ?? '',
      ...columns.map(({ column, path }) => cell(column.type, path.first(object), now)),
    ],
  };
}

function readPath(text: string): JsonPath | undefined {
  try {
    return new JsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function tableColumn({ name, type, format, description, priority, jsonPath }: CustomResourceColumnDefinition): TableColumn {
  return {
    name,
    type: type as TableColumn['type'],
    description: description || `The value at ${jsonPath} of the custom resource.`,
    ...(format && { format }),
    ...(priority && { priority }),
  };
}

function cell(type: TableColumn['type'], value: JsonValue | undefined, now: number): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return jsonPathText(value);
    case 'integer':
      return typeof value === 'number' || typeof value === 'bigint' ? Math.trunc(Number(value)) : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateCell(value, now) : null;
  }
}

function dateCell(text: string, now: number): string {
  try {
    parseTime(text);
  } catch {
    return '<invalid>';
  }
  return sinceCell(text, now);
}
