import { isJsonObject, type JsonObject, type JsonValue } from '#machinery';
import { withReferences } from '../openapi/index.ts';

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch']);
/** Parameter fields that are not part of its schema. */
const PARAMETER_KEYS: ReadonlySet<string> = new Set(['name', 'in', 'description', 'required', 'allowEmptyValue']);
const JSON_ONLY = ['application/json'];

/** Converts OpenAPI v2 to v3, for servers that only have v2. Fields without a counterpart are dropped. */
export function v3FromV2(part: JsonObject): JsonObject {
  const { paths = {}, definitions = {} } = withReferences(part, (reference) =>
    reference.replace('#/definitions/', '#/components/schemas/'),
  ) as {
    readonly paths?: JsonObject;
    readonly definitions?: JsonObject;
  };
  const converted = Object.entries(paths).map(([path, item]): [string, JsonValue] => [path, isJsonObject(item) ? pathItem(item) : {}]);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(converted),
    components: { schemas: definitions },
  };
}

function pathItem(item: JsonObject): JsonObject {
  const entries = Object.entries(item).flatMap(([key, value]): [string, JsonValue][] => {
    if (METHODS.has(key) && isJsonObject(value)) return [[key, operation(value)]];
    if (key === 'parameters' && Array.isArray(value))
      return [
        [
          key,
          objects(value)
            .filter(({ in: place }) => place !== 'body')
            .map(parameter),
        ],
      ];
    return [];
  });
  return Object.fromEntries(entries);
}

function operation({ consumes, produces, parameters, responses, schemes: _, ...rest }: JsonObject): JsonObject {
  const all = objects(parameters);
  const body = all.find(({ in: place }) => place === 'body');
  const types = (value: JsonValue | undefined) =>
    Array.isArray(value) && value.length > 0 ? value.filter((type): type is string => typeof type === 'string') : JSON_ONLY;
  return {
    ...rest,
    ...(all.length > 0 && { parameters: all.filter((item) => item !== body).map(parameter) }),
    ...(body && { requestBody: { content: contentOf(types(consumes), body.schema), ...(body.required && { required: true }) } }),
    responses: Object.fromEntries(
      Object.entries(isJsonObject(responses ?? {}) ? ((responses ?? {}) as JsonObject) : {}).map(([code, response]) => [
        code,
        responseOf(response as JsonValue, types(produces)),
      ]),
    ),
  };
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as JsonValue[]).filter(isJsonObject) : [];
}

function parameter(own: JsonObject): JsonObject {
  if (own.$ref !== undefined) return own;
  const entries = Object.entries(own);
  const about = entries.filter(([key]) => PARAMETER_KEYS.has(key));
  return { ...Object.fromEntries(about), schema: Object.fromEntries(entries.filter(([key]) => !PARAMETER_KEYS.has(key))) };
}

function responseOf(response: JsonValue, types: readonly string[]): JsonObject {
  if (!isJsonObject(response)) return { description: '' };
  const { description = '', schema } = response;
  return { description, ...(schema !== undefined && { content: contentOf(types, schema) }) };
}

function contentOf(types: readonly string[], schema: JsonValue | undefined): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema: schema ?? {} }]));
}
