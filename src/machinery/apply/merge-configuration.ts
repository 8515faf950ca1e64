import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import { mergeValues } from './merge.ts';
import { type Shape, shapeOf } from './shape.ts';
import { asList, asMap } from './typed-value.ts';
import { typedProblems } from './validate-typed.ts';

/** A configuration that cannot be merged into an object, in upstream's words. */
export class MergeConfigurationError extends Error {
  override readonly name = 'MergeConfigurationError';
}

/**
 * Merges a configuration into an object as server-side apply does, without ownership: the configuration's values win and nothing is removed. Values
 * that would be replaced as a whole are errors, since that would remove what the configuration does not mention. The result is not decoded.
 */
export function mergeConfiguration(schema: ObjectSchema, object: JsonObject, configuration: JsonObject): JsonObject {
  const shape = shapeOf(schema);
  const problems = typedProblems(shape, configuration);
  if (problems !== undefined) throw new MergeConfigurationError(`failed to convert patch object to typed object: ${problems}`);
  const atomics = atomicPaths(shape, configuration, '');
  if (atomics.length > 0) {
    throw new MergeConfigurationError(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  }
  return (mergeValues(shape, object, configuration) ?? {}) as JsonObject;
}

function atomicPaths(shape: Shape, value: JsonValue, path: string): readonly string[] {
  const members = asMap(value);
  if (members !== undefined && shape.map !== undefined) {
    const { atomic, fields } = shape.map;
    const below = Object.entries(members).flatMap(([name, member]) => {
      const field = fields.get(name);
      return field === undefined ? [] : atomicPaths(field.shape, member as JsonValue, `${path}.${name}`);
    });
    return atomic ? [path, ...below] : below;
  }
  const items = asList(value);
  if (items === undefined || shape.list === undefined) return [];
  const { atomic, items: itemShape } = shape.list;
  const below = items.flatMap((item, i) => atomicPaths(itemShape, item, `${path}[${i}]`));
  return atomic ? [path, ...below] : below;
}
