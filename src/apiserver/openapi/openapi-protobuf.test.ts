import { describe, expect, test } from 'vitest';
import { decodeProtobuf, type Field, type JsonObject, type ObjectSchema, type Schema } from '#machinery';
import { at, openapi, parse, v2 } from './openapi.test-data.ts';

const text: Schema = { type: 'string' };
const list = (items: Schema): Schema => ({ type: 'list', items, listType: 'atomic', keys: [] });
const map = (values: Schema): Schema => ({ type: 'map', values, atomic: false });
const message = (fields: Record<string, [number, Schema]>): ObjectSchema => {
  const built = Object.entries(fields).map(
    ([name, [number, schema]]): Field => ({
      name,
      number,
      schema,
      description: '',
      presence: 'set',
      required: false,
      patchStrategies: [],
    }),
  );
  const fieldsByName = new Map(built.map((field) => [field.name, field]));
  return { type: 'object', name: 'x', description: '', fields: built, fieldsByName, atomic: false, preserveUnknown: false };
};
const anyValue = message({ yaml: [2, text] });

describe('version 2 in protobuf', () => {
  const leaf = message({
    ref: [1, text],
    format: [2, text],
    type: [22, message({ value: [1, list(text)] })],
    extensions: [31, map(anyValue)],
  });
  const definition = message({
    required: [19, list(text)],
    properties: [25, message({ all: [1, map(leaf)] })],
    extensions: [31, map(anyValue)],
  });
  const query = message({
    parameter: [1, message({ nonBody: [2, message({ query: [3, message({ name: [4, text], in: [2, text] })] })] })],
  });
  const operation = message({ id: [5, text], parameters: [8, list(query)], extensions: [13, map(anyValue)] });
  const Document = message({
    swagger: [1, text],
    paths: [8, message({ path: [2, map(message({ patch: [8, operation] }))] })],
    definitions: [9, message({ all: [1, map(definition)] })],
  });
  const document = decodeProtobuf(Document, openapi.documentV2().protobuf());

  test('equals the JSON document', () => {
    expect(document.swagger).toBe('2.0');
    const all = at(document, 'definitions', 'all') as Record<string, JsonObject>;
    expect(Object.keys(all)).toEqual(Object.keys(v2.definitions as JsonObject));
    const spec = all['io.k8s.api.core.v1.PodSpec']!;
    expect(spec.required).toEqual(['containers']);
    expect(at(spec, 'properties', 'all', 'restartPolicy', 'type')).toEqual({ value: ['string'] });
    expect(at(spec, 'properties', 'all', 'affinity', 'ref')).toBe('#/definitions/io.k8s.api.core.v1.Affinity');
    const yaml = at(all['io.k8s.api.core.v1.Pod']!, 'extensions', 'x-kubernetes-group-version-kind', 'yaml') as string;
    expect(JSON.parse(yaml)).toEqual([{ group: '', kind: 'Pod', version: 'v1' }]);
  });

  test('has the query parameters of operations', () => {
    const patch = at(document, 'paths', 'path', '/api/v1/namespaces/{namespace}/pods/{name}', 'patch') as JsonObject;
    expect(patch.id).toBe('patchCoreV1NamespacedPod');
    const names = (patch.parameters as JsonObject[]).map((parameter) => at(parameter, 'parameter', 'nonBody', 'query', 'name'));
    expect(names).toContain('dryRun');
    expect(names).toContain('fieldValidation');
  });
});

describe('version 3 in protobuf', () => {
  const flag: Schema = { type: 'bool' };
  const reference = message({ ref: [1, text] });
  const leaf = message({
    type: [25, text],
    allOf: [26, list(message({ reference: [2, reference] }))],
    oneOf: [27, list(message({ schema: [1, message({ type: [25, text] })] }))],
    items: [30, message({ schema: [1, list(message({ reference: [2, reference] }))] })],
    default: [33, message({ number: [1, { type: 'double' }], boolean: [2, flag], string: [3, text] })],
    description: [34, text],
    extensions: [36, map(anyValue)],
  });
  const definition = message({
    required: [23, list(text)],
    type: [25, text],
    oneOf: [27, list(message({ schema: [1, message({ type: [25, text] })] }))],
    properties: [31, message({ all: [1, map(message({ schema: [1, leaf] }))] })],
    extensions: [36, map(anyValue)],
  });
  const content = message({ all: [1, map(message({ schema: [1, message({ reference: [2, reference] })] }))] });
  const operation = message({
    id: [5, text],
    parameters: [
      6,
      list(message({ itself: [1, message({ name: [1, text], in: [2, text], schema: [10, message({ schema: [1, leaf] })] })] })),
    ],
    requestBody: [7, message({ itself: [1, message({ content: [2, content] })] })],
    responses: [8, message({ all: [2, map(message({ itself: [1, message({ description: [1, text], content: [3, content] })] }))] })],
    extensions: [13, map(anyValue)],
  });
  const Document = message({
    openapi: [1, text],
    info: [2, message({ title: [1, text], version: [6, text] })],
    paths: [4, message({ path: [1, map(message({ patch: [10, operation] }))] })],
    components: [5, message({ schemas: [1, message({ all: [1, map(message({ schema: [1, definition] }))] })] })],
  });
  const published = openapi.documentV3('api/v1')!;
  const json = parse(published.body);
  const document = decodeProtobuf(Document, published.protobuf());

  test('equals the JSON document', () => {
    expect(document).toMatchObject({ openapi: '3.0.0', info: json.info });
    const all = at(document, 'components', 'schemas', 'all') as Record<string, JsonObject>;
    const schemas = at(json, 'components', 'schemas') as Record<string, JsonObject>;
    expect(Object.keys(all)).toEqual(Object.keys(schemas));
    const spec = all['io.k8s.api.core.v1.PodSpec']!.schema as JsonObject;
    expect(spec.required).toEqual(['containers']);
    const property = (name: string) => at(spec, 'properties', 'all', name, 'schema') as JsonObject;
    expect(property('hostname')).toMatchObject({
      type: 'string',
      description: at(schemas['io.k8s.api.core.v1.PodSpec']!, 'properties', 'hostname', 'description'),
    });
    expect(property('affinity').allOf).toEqual([{ reference: { ref: '#/components/schemas/io.k8s.api.core.v1.Affinity' } }]);
    expect(at(property('containers'), 'extensions', 'x-kubernetes-list-type', 'yaml')).toBe('"map"\n');
    expect(at(all['io.k8s.apimachinery.pkg.util.intstr.IntOrString']!, 'schema', 'oneOf')).toEqual([
      { schema: { type: 'integer' } },
      { schema: { type: 'string' } },
    ]);
  });

  test('has the parameters, bodies and answers of operations', () => {
    const patch = at(document, 'paths', 'path', '/api/v1/namespaces/{namespace}/pods/{name}', 'patch') as JsonObject;
    expect(patch.id).toBe('patchCoreV1NamespacedPod');
    expect(patch.parameters).toContainEqual({ itself: expect.objectContaining({ name: 'force', in: 'query' }) });
    expect(Object.keys(at(patch, 'requestBody', 'itself', 'content', 'all') as JsonObject)).toContain('application/apply-patch+yaml');
    const ok = at(patch, 'responses', 'all', '200', 'itself', 'content', 'all', 'application/json', 'schema', 'reference');
    expect(ok).toEqual({ ref: '#/components/schemas/io.k8s.api.core.v1.Pod' });
  });
});
