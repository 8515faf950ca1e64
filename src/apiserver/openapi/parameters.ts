import { meta } from '#api';
import type { ObjectSchema, Schema } from '#machinery';
import type { Parameter } from './operation.ts';

export const NAMESPACE: Parameter = { name: 'namespace', in: 'path', type: 'string', description: 'The namespace of the objects.' };
export const PATH: Parameter = { name: 'path', in: 'path', type: 'string', description: 'The URL path behind the proxy.' };
export const PRETTY: Parameter = {
  name: 'pretty',
  in: 'query',
  type: 'string',
  description: "If 'true', the answer is indented for people.",
};

export function nameParameter(kind: string): Parameter {
  return { name: 'name', in: 'path', type: 'string', description: `The name of the ${kind}.` };
}

/** The query parameters of an options type: one per field. */
export function queryParameters(options: ObjectSchema): readonly Parameter[] {
  return options.fields
    .filter(({ name }) => name !== 'kind' && name !== 'apiVersion')
    .map(({ name, schema, description }): Parameter => ({ name, in: 'query', type: parameterType(schema), description }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function parameterType(schema: Schema): Parameter['type'] {
  if (schema.type === 'list') return parameterType(schema.items);
  if (schema.type === 'bool') return 'boolean';
  return schema.type === 'int32' || schema.type === 'int64' ? 'integer' : 'string';
}

export const LIST_PARAMETERS = queryParameters(meta.ListOptions);
export const CREATE_PARAMETERS = queryParameters(meta.CreateOptions);
export const UPDATE_PARAMETERS = queryParameters(meta.UpdateOptions);
export const PATCH_PARAMETERS = queryParameters(meta.PatchOptions);
/** Preconditions are in the body only. */
export const DELETE_PARAMETERS = queryParameters(meta.DeleteOptions).filter(({ name }) => name !== 'preconditions');

const DELETE_NAMES: ReadonlySet<string> = new Set(DELETE_PARAMETERS.map(({ name }) => name));
const NOT_FOR_DELETION: ReadonlySet<string> = new Set(['watch', 'allowWatchBookmarks']);
export const DELETE_COLLECTION_PARAMETERS = [
  ...DELETE_PARAMETERS,
  ...LIST_PARAMETERS.filter(({ name }) => !DELETE_NAMES.has(name) && !NOT_FOR_DELETION.has(name)),
].sort((a, b) => (a.name < b.name ? -1 : 1));
