import type { Random } from '#base';
import { apiVersionOf, encodeEnvelope, encodeProtobuf, encodeYaml, type JsonObject, type JsonValue, type ObjectSchema } from '#machinery';
import { baseObject } from './base-objects.ts';
import type { Send } from './hostile-cluster.ts';
import { type FieldPath, fieldsOf, hostileValue, withValue } from './hostile-values.ts';

/** What the generator must know of the served resources. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly schema: ObjectSchema;
}

export interface HostileInput {
  readonly path: string;
  readonly send: Send;
  /** A one-line description. */
  readonly text: string;
}

const FORMATS = ['json', 'json', 'json', 'yaml', 'protobuf', 'merge-patch', 'strategic-merge-patch', 'json-patch', 'apply'] as const;
type Format = (typeof FORMATS)[number];

/** Inputs determined by the random source alone: every kind and field in turn, each with a random value and format. */
export class InputGenerator {
  readonly #fields: readonly (readonly [Target, readonly FieldPath[]])[];
  #next = 0;

  constructor(
    targets: readonly Target[],
    private readonly random: Random,
  ) {
    this.#fields = targets.filter(({ verbs }) => verbs.includes('create')).map((target) => [target, fieldsOf(target.schema)] as const);
  }

  next(): HostileInput {
    const [target, fields] = this.#fields[this.#next++ % this.#fields.length]!;
    const field = this.random.pick(fields);
    const value = hostileValue(field.schema, this.random, this.#length());
    const canPatch = target.verbs.includes('patch');
    const format = canPatch ? this.random.pick(FORMATS) : this.random.pick(FORMATS.slice(0, 5));
    const text = `${format} ${target.group}/${target.version} ${target.kind} ${field.path.join('.')} = ${JSON.stringify(value).slice(0, 80)}`;
    return { ...request(target, { field, value, format }), text };
  }

  #length(): number {
    const chance = this.random.int(1000);
    return chance < 950 ? 100 : chance < 995 ? 5000 : 300_000;
  }
}

interface Change {
  readonly field: FieldPath;
  readonly value: JsonValue;
  readonly format: Format;
}

function request(target: Target, { field, value, format }: Change): Omit<HostileInput, 'text'> {
  const { group, version, resource, namespaced } = target;
  const apiVersion = apiVersionOf(target);
  const collection = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${resource}`;
  const base = baseObject({ ...target, apiVersion });
  const object = withValue(base, field.path, value) as JsonObject;
  const name = (base.metadata as { name: string }).name;
  const patch = (contentType: string, body: JsonValue, query = ''): Omit<HostileInput, 'text'> => ({
    path: `${collection}/${name}?dryRun=All${query}`,
    send: { method: 'PATCH', headers: { 'content-type': contentType }, body: JSON.stringify(body) },
  });
  const post = (contentType: string, body: string | Buffer): Omit<HostileInput, 'text'> => ({
    path: `${collection}?dryRun=All&fieldValidation=Warn`,
    send: { method: 'POST', headers: { 'content-type': contentType }, body },
  });
  switch (format) {
    case 'json':
      return post('application/json', JSON.stringify(object));
    case 'yaml':
      return post('application/yaml', encodeYaml(object));
    case 'protobuf':
      return post('application/vnd.kubernetes.protobuf', protobuf(target, object));
    case 'merge-patch':
    case 'strategic-merge-patch':
      return patch(`application/${format}+json`, withValue({}, field.path, value));
    case 'json-patch':
      return patch('application/json-patch+json', [{ op: 'add', path: `/${field.path.join('/')}`, value }]);
    case 'apply':
      return patch('application/apply-patch+yaml', object, '&fieldManager=hostile&force=true');
  }
}

/** Values that protobuf cannot carry become bytes that are not a message. */
function protobuf(target: Target, object: JsonObject): Buffer {
  const type = { apiVersion: apiVersionOf(target), kind: target.kind };
  try {
    return encodeEnvelope(type, encodeProtobuf(target.schema, object));
  } catch {
    return encodeEnvelope(type, Buffer.from(JSON.stringify(object).slice(0, 1000)));
  }
}
