import type { Field, ListSchema, MapSchema, ObjectSchema, Presence, Schema } from '../schema.ts';

/** Schemas for tests, in a few words; the built-in types live in a layer above. */
export const text: Schema = { type: 'string' };
export const integer: Schema = { type: 'int32' };

export function list(items: Schema): ListSchema {
  return { type: 'list', items, listType: 'atomic', keys: [] };
}
export function set(items: Schema): ListSchema {
  return { type: 'list', items, listType: 'set', keys: [] };
}
export function keyed(items: Schema, ...keys: string[]): ListSchema {
  return { type: 'list', items, listType: 'map', keys };
}
export function map(values: Schema, atomic = false): MapSchema {
  return { type: 'map', values, atomic };
}

interface DeclaredFields {
  readonly schema: Schema;
  readonly presence?: Presence;
  readonly default?: unknown;
}

export function struct(fields: Readonly<Record<string, Schema | DeclaredFields>>, options: Partial<ObjectSchema> = {}): ObjectSchema {
  const list = Object.entries(fields).map(([name, field]) => toField(name, 'schema' in field ? field : { schema: field }));
  const byName = new Map(list.map((field) => [field.name, field]));
  return {
    type: 'object',
    name: '',
    description: '',
    fields: list,
    fieldsByName: byName,
    atomic: false,
    preserveUnknown: false,
    ...options,
  };
}

function toField(name: string, { schema, presence = 'nonzero', ...rest }: DeclaredFields): Field {
  return { name, schema, presence, description: '', required: false, patchStrategies: [], number: 0, ...rest };
}

export const metadata = struct({
  name: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  labels: map(text),
  annotations: map(text),
  managedFields: list({ type: 'any', name: 'entry', objectOnly: true, proto: 'raw' }),
});

const port = struct({
  containerPort: { schema: integer, presence: 'always' },
  protocol: { schema: text, default: 'TCP' },
  name: text,
});
const container = struct({
  name: { schema: text, presence: 'always' },
  image: text,
  args: list(text),
  ports: keyed(port, 'containerPort', 'protocol'),
  resources: { schema: struct({ requests: map({ type: 'quantity' }) }), presence: 'always' },
});

/** Something like a pod in a deployment. */
export const Thing = struct({
  apiVersion: text,
  kind: text,
  metadata: { schema: metadata, presence: 'always' },
  spec: {
    schema: struct({
      replicas: { schema: integer, presence: 'set' },
      paused: { type: 'bool' },
      containers: { schema: keyed(container, 'name'), presence: 'always' },
      tags: set(text),
      selector: map(text, true),
      options: map(text),
      ref: struct({ kind: text, name: text }, { atomic: true }),
      anything: { type: 'any', name: 'json', objectOnly: false, proto: 'raw' },
      raw: { type: 'any', name: 'io.k8s.apimachinery.pkg.runtime.RawExtension', objectOnly: true, proto: 'raw' },
      open: struct({ declared: text }, { preserveUnknown: true }),
    }),
    presence: 'always',
  },
  status: { schema: struct({ phase: text }), presence: 'always' },
});
