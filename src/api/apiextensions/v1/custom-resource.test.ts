import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#machinery';
import { type CustomResourceType, customResourceType } from './custom-resource.behaviour.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import type { JSONSchemaProps } from './custom-resource-definition-spec.ts';

const NOW = Date.UTC(2026, 0, 2);

function typeOf(spec: JSONSchemaProps, version: JsonObject = {}): CustomResourceType {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec, status: { type: 'object', properties: { n: { type: 'integer', maximum: 9 } } } },
    },
  };
  const definition = {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
    },
  };
  return customResourceType(definition as unknown as CustomResourceDefinition, 'v1');
}

const widget = (rest: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'n' },
  ...rest,
});
const texts = (errors: readonly unknown[] | undefined) => (errors ?? []).map(String);

describe('a custom resource', () => {
  const type = typeOf(
    {
      type: 'object',
      properties: {
        a: { type: 'string', default: 'd' },
        e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    { subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.n' } } },
  );

  it('is a kind like any other', () => {
    expect(type.kind).toMatchObject({ group: 'example.com', version: 'v1', kind: 'Widget', resource: 'widgets', namespaced: true });
    expect([...type.kind.fieldsByName.keys()]).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
    expect(type.hasStatus).toBe(true);
  });

  it('is read: unknown fields are dropped and named, metadata first', () => {
    const document = widget({
      frob: 1,
      metadata: { name: 'a', nope: 1 },
      spec: { nope: 1, e: { apiVersion: 'v1', kind: 'Pod', metadata: { bad: 1, name: 'x' }, any: 1 } },
    });
    expect(type.decode(document)).toEqual({
      object: widget({ metadata: { name: 'a' }, spec: { e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, any: 1 } } }),
      unknownFields: ['metadata.nope', 'frob', 'spec.nope', 'spec.e.metadata.bad'],
    });
  });

  it.each<[JsonObject, string]>([
    [{ metadata: { labels: { a: 5 } } }, 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string'],
    [
      { spec: { e: { apiVersion: 'v1', metadata: 'text' } } },
      'spec.e.metadata: Invalid value: "text": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    ],
    [{ spec: { e: { kind: 5 } } }, 'spec.e.kind: Invalid value: 5: must be a string'],
  ])('is not read from %j', (rest, error) => expect(type.decode(widget(rest)).error).toBe(error));

  it('that is stored already is read all the same', () => {
    const { object, error } = type.decode(
      widget({ metadata: { name: 'a', labels: { a: 5 } }, spec: { e: { kind: 5, metadata: { name: 'x', labels: 1 } } } }),
      { lenient: true },
    );
    expect(error).toBeUndefined();
    expect(object).toEqual(widget({ metadata: { name: 'a' }, spec: { e: { metadata: { name: 'x' } } } }));
  });

  it('gets its defaults', () => expect(type.defaults?.(widget({ spec: {} }))).toEqual(widget({ spec: { a: 'd' } })));

  it.each<[JsonObject, readonly string[]]>([
    [widget({ spec: { a: 'x' } }), []],
    [{ ...widget({}), kind: 'Other' }, ['kind: Invalid value: "Other": must be Widget']],
    [
      widget({ metadata: { name: 'Bad', namespace: 'n' } }),
      [expect.stringContaining('metadata.name: Invalid value: "Bad"') as unknown as string],
    ],
    [widget({ spec: { a: 5 } }), ['spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"']],
    [widget({ spec: { e: { kind: 'Pod' } } }), ['spec.e.apiVersion: Required value']],
    [
      widget({ spec: { e: { apiVersion: 'a/b/c', kind: 'bad!', metadata: {} } } }),
      [
        'spec.e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        expect.stringContaining('spec.e.kind: Invalid value: "bad!": may have mixed case') as unknown as string,
      ],
    ],
    [widget({ spec: { replicas: -1 } as unknown as JsonValue }), ['.spec.replicas: Invalid value: -1: should be a non-negative integer']],
    [
      widget({ spec: { replicas: 'x' } as unknown as JsonValue }),
      ['.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64'],
    ],
  ])('is validated: %#', (object, errors) => expect(texts(type.validate?.(object))).toEqual(errors));

  it('has its status validated alone', () => {
    const old = widget({ spec: { a: 5 as unknown as string } });
    expect(texts(type.validateStatusUpdate?.({ ...old, status: { n: 10 } }, old))).toEqual([
      'status.n: Invalid value: 10: n in body should be less than or equal to 9',
    ]);
  });

  it('warns of finalizers without a domain', () => {
    const object = widget({ metadata: { name: 'a', finalizers: ['plain', 'orphan', 'a.b/c', 'a.b'] } });
    expect(type.warnings?.(object)).toEqual([
      'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
    expect(type.warnings?.(object, object)).toEqual([]);
  });
});

describe('rules of a custom resource', () => {
  const type = typeOf({
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self != "bad"' }] },
      b: { type: 'string' },
      r: { type: 'string' },
    },
    required: ['r'],
  });

  it('are not run on an object whose shape is wrong', () => {
    expect(texts(type.validate?.(widget({ spec: { a: 'bad' } })))).toEqual([
      'spec.r: Required value',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ]);
  });

  it('are forgiven to what did not change, with a warning', () => {
    const old = widget({ spec: { a: 'bad', r: 'x' } });
    const object = widget({ spec: { a: 'bad', r: 'y' } });
    expect(texts(type.validateUpdate?.(object, old))).toEqual([]);
    expect(type.warnings?.(object, old)).toEqual(['spec.a: Invalid value: "bad": failed rule: self != "bad"']);
    expect(texts(type.validate?.(object))).toEqual(['spec.a: Invalid value: "bad": failed rule: self != "bad"']);
  });
});

describe('columns and selectable fields', () => {
  const columns = [
    { name: 'S', type: 'string', jsonPath: '.spec.s' },
    { name: 'O', type: 'string', jsonPath: '.spec.o' },
    { name: 'I', type: 'integer', format: 'int32', priority: 1, jsonPath: '.spec.i' },
    { name: 'N', type: 'number', jsonPath: '.spec.n' },
    { name: 'B', type: 'boolean', jsonPath: '.spec.b' },
    { name: 'D', type: 'date', jsonPath: '.spec.d' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Wrong', type: 'integer', jsonPath: '.spec.s' },
  ];
  const type = typeOf(
    { type: 'object' },
    { additionalPrinterColumns: columns, selectableFields: [{ jsonPath: '.spec.s' }, { jsonPath: '.spec.b' }] },
  );
  const object = widget({
    spec: { s: 'text', o: { k: ['v'] }, i: 5, n: 1.5, b: true, d: '2026-01-01T00:00:00Z' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });

  it('are printed by type', () => {
    expect(type.table?.columns.map(({ name }) => name)).toEqual(['Name', 'S', 'O', 'I', 'N', 'B', 'D', 'Ready', 'Wrong']);
    expect(type.table?.cells(object, NOW)).toEqual(['a', 'text', '{"k":["v"]}', 5, 1.5, true, '24h', 'True', null]);
    expect(type.table?.cells(widget({ spec: { d: 'x' } }), NOW)).toEqual(['a', null, null, null, null, null, '<invalid>', null, null]);
  });

  it('are the age where none are declared', () => {
    const plain = typeOf({ type: 'object' });
    expect(plain.table?.cells(widget({ metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } }), NOW)).toEqual(['a', '24h']);
  });

  it('select by text', () => {
    const { 'spec.s': text, 'spec.b': flag } = type.selectableFields ?? {};
    expect([text?.(object), flag?.(object), text?.(widget({}))]).toEqual(['text', 'true', '']);
  });
});
