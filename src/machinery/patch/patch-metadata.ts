import type { Field, Schema } from '../schema.ts';
import { goQuote } from '../values/go-format.ts';
import { StrategicPatchError } from './strategic-error.ts';

/** How a strategic merge patch treats one field. */
export interface PatchMetadata {
  /** The schema of the field, or of its items when it is a list. */
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | undefined;
  readonly retainKeys: boolean;
  /** Empty for a list of scalars. */
  readonly mergeKey: string;
}

/** The metadata of a field that holds an object. Throws where upstream has none: in maps and in fields that do not exist. */
export function objectMetadata(schema: Schema, key: string): PatchMetadata {
  return metadataOf(fieldOf(schema, key));
}

/** The metadata of a field that holds a list. */
export function listMetadata(schema: Schema, key: string): PatchMetadata {
  const metadata = metadataOf(fieldOf(schema, key));
  if (metadata.schema.type !== 'list') {
    throw new StrategicPatchError(`expected slice or array type, but got: ${goKind(schema)}`);
  }
  if (metadata.schema.items.type === 'list') throw new StrategicPatchError('unexpected slice of slice');
  return { ...metadata, schema: metadata.schema.items };
}

function metadataOf(field: Field): PatchMetadata {
  const strategy = field.patchStrategies.find((candidate) => candidate !== 'retainKeys');
  return {
    schema: field.schema,
    strategy: strategy === 'merge' || strategy === 'replace' ? strategy : undefined,
    retainKeys: field.patchStrategies.includes('retainKeys'),
    mergeKey: field.patchMergeKey ?? '',
  };
}

function fieldOf(schema: Schema, key: string): Field {
  if (schema.type !== 'object' && schema.type !== 'any') {
    throw new StrategicPatchError(`merging an object in json but data type is not struct, instead is: ${goKind(schema)}`);
  }
  const field = schema.type === 'object' ? schema.fieldsByName.get(key) : undefined;
  if (field !== undefined) return field;
  const struct = schema.name.slice(schema.name.lastIndexOf('.') + 1);
  throw new StrategicPatchError(`unable to find api field in struct ${struct} for the json field ${goQuote(key)}`);
}

function goKind(schema: Schema): string {
  switch (schema.type) {
    case 'list':
    case 'bytes':
      return 'slice';
    case 'map':
    case 'int32':
    case 'int64':
    case 'bool':
    case 'string':
      return schema.type;
    case 'double':
      return 'float64';
    default:
      return 'struct';
  }
}
