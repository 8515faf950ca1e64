import { type AnySchema, type Field, type JsonObject, type JsonValue, type ObjectSchema, Quantity, type Schema } from '#machinery';

export interface RandomObjectOptions {
  readonly seed: number;
  /** The approximate number of optional values. */
  readonly size: number;
}

/**
 * A random canonical object of a schema, for tests, covering all allowed forms. Deterministic for given options, so that failures can be reproduced.
 */
export function randomObject(schema: ObjectSchema, { seed, size }: RandomObjectOptions): JsonObject {
  return new ObjectMaker(seed, size).object(schema);
}

const TEXTS = [
  'a',
  'web',
  'kube-system',
  'Ünïcödé',
  '日本語',
  '🚣',
  'x'.repeat(200),
  'line\nbreak',
  '"quoted"',
  '\u0000',
  'app.kubernetes.io/name',
];
const KEYS = [...TEXTS, '__proto__', 'constructor', 'toString', '1', ''];
const QUANTITIES = ['1', '100m', '1500m', '128Mi', '1Gi', '3k', '1e3', '12e6', '1536Mi', '-5', '250u', '9223372036854775807', '0'];
const TIMES = [-62_135_596_799, -1, 0, 1, 1_767_323_045, 253_402_300_799];
const INT64S = [0, 1, -1, 127, 128, 300, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 2n ** 62n, -(2n ** 63n), 2n ** 63n - 1n];
const INT32S = [0, 1, -1, 127, 128, 16_384, 2 ** 31 - 1, -(2 ** 31)];

class ObjectMaker {
  private state: number;
  /** The remaining number of optional values; limits objects of wide and deep schemas. */
  private budget: number;

  constructor(seed: number, budget: number) {
    this.state = seed | 0;
    this.budget = budget;
  }

  object(schema: ObjectSchema): JsonObject {
    const entries: [string, JsonValue][] = [];
    for (const field of this.shuffled(schema.fields)) {
      const value = this.field(field);
      if (value !== undefined) entries.push([field.name, value]);
    }
    return Object.fromEntries(entries);
  }

  private field(field: Field): JsonValue | undefined {
    const isChosen = this.budget > 0 && this.below(3) === 0;
    if (isChosen) this.budget--;
    switch (field.presence) {
      case 'always':
        return isChosen ? this.value(field.schema) : this.zero(field.schema);
      case 'nullable':
        return isChosen ? this.value(field.schema) : null;
      case 'set':
        return isChosen ? this.value(field.schema) : undefined;
      default:
        return isChosen ? this.nonzero(field.schema) : undefined;
    }
  }

  private zero(schema: Schema): JsonValue {
    if (schema.type === 'object') return this.object(schema);
    if (schema.type === 'string') return '';
    if (schema.type === 'bool') return false;
    if (schema.type === 'quantity') return '0';
    if (schema.type === 'duration') return '0s';
    return ZERO_IS_NUMBER.has(schema.type) ? 0 : null;
  }

  private nonzero(schema: Schema): JsonValue | undefined {
    const value = this.value(schema);
    return value === '' || value === 0 || value === false || value === null ? undefined : value;
  }

  private value(schema: Schema): JsonValue {
    switch (schema.type) {
      case 'object':
        return this.object(schema);
      case 'list':
        return Array.from({ length: 1 + this.below(3) }, () => this.value(schema.items));
      case 'map':
        return Object.fromEntries(Array.from({ length: 1 + this.below(3) }, () => [this.pick(KEYS), this.value(schema.values)]));
      case 'any':
        return this.any(schema);
      default:
        return this.scalar(schema.type);
    }
  }

  private scalar(type: Exclude<Schema['type'], 'object' | 'list' | 'map' | 'any'>): JsonValue {
    switch (type) {
      case 'string':
        return this.pick(TEXTS);
      case 'bool':
        return this.below(2) === 0;
      case 'int32':
        return this.pick(INT32S);
      case 'int64':
        return this.pick(INT64S);
      case 'double':
        return this.pick([0.5, -1.25, 1e300, 3]);
      case 'bytes':
        return Buffer.from(Array.from({ length: 1 + this.below(9) }, () => this.below(256))).toString('base64');
      case 'quantity':
        return Quantity.parse(this.pick(QUANTITIES)).toString();
      case 'time':
        return this.time();
      case 'microTime':
        return this.time().replace('Z', `.${String(this.below(1_000_000)).padStart(6, '0')}Z`);
      case 'duration':
        return this.pick(['1ns', '250ms', '30s', '1m30s', '-2562047h47m16.854775808s']);
      case 'intOrString':
        return this.below(2) === 0 ? this.pick(INT32S) : this.pick(['', ...TEXTS]);
    }
  }

  private time(): string {
    return new Date(this.pick(TIMES) * 1000).toISOString().replace('.000Z', 'Z');
  }

  private any({ proto, inner, objectOnly }: AnySchema): JsonValue {
    if (inner === undefined || proto === 'raw') return objectOnly ? { [this.pick(KEYS)]: this.json(2) } : (this.json(2) ?? 0);
    if (this.budget <= 0 || this.below(2) === 0) return this.object(inner);
    if (proto === 'schemaOrBool') return this.below(2) === 0;
    return proto === 'schemaOrArray' ? [this.object(inner)] : [this.pick(TEXTS), this.pick(TEXTS)];
  }

  private json(depth: number): JsonValue {
    const choice = this.below(depth > 0 ? 6 : 4);
    if (choice === 0) return this.pick(TEXTS);
    if (choice === 1) return this.pick([0, 1, -5, 1.5, 2 ** 40]);
    if (choice === 2) return this.below(2) === 0;
    if (choice === 3) return depth === 2 ? 'x' : null;
    return choice === 4 ? [this.json(depth - 1)] : Object.fromEntries([[this.pick(KEYS), this.json(depth - 1)]]);
  }

  private shuffled<T>(items: readonly T[]): readonly T[] {
    const start = this.below(items.length || 1);
    return [...items.slice(start), ...items.slice(0, start)];
  }

  private pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  // mulberry32
  private below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }
}

const ZERO_IS_NUMBER: ReadonlySet<Schema['type']> = new Set(['int32', 'int64', 'double', 'intOrString']);
