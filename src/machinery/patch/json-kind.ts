import type { JsonValue } from '../json/json-value.ts';

/** What Go's decoder calls the kind of a JSON value in its errors. */
export function goJsonKind(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
    case 'number':
      return 'number';
    default:
      return typeof value;
  }
}
