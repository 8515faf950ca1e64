import { describe, expect, it } from 'vitest';
import type { Field, ObjectSchema, Schema } from '../schema.ts';
import { restoreError, restoreNameError } from './restore-object.ts';

const field = (name: string, schema: Schema): Field => ({
  name,
  schema,
  description: '',
  presence: 'nonzero',
  required: false,
  patchStrategies: [],
  number: 1,
});

function object(fields: readonly Field[]): ObjectSchema {
  const fieldsByName = new Map(fields.map((fieldSchema) => [fieldSchema.name, fieldSchema]));
  return { type: 'object', name: 'x.v1.Thing', description: '', fields, fieldsByName, atomic: false, preserveUnknown: false };
}

const THING = object([
  field('name', { type: 'string' }),
  field('policy', { type: 'string', goName: 'v1.PullPolicy' }),
  field('count', { type: 'int32' }),
  field('ratio', { type: 'double' }),
  field('on', { type: 'bool' }),
  field('secret', { type: 'bytes' }),
  field('cpu', { type: 'quantity' }),
  field('since', { type: 'time' }),
  field('port', { type: 'intOrString' }),
  field('labels', { type: 'map', values: { type: 'string' }, atomic: false }),
  field('args', { type: 'list', items: { type: 'string' }, listType: 'atomic', keys: [] }),
  field('inner', object([field('name', { type: 'string' })])),
]);

describe('restoring an object from a document that was never text', () => {
  it.each([
    [{ name: 1 }, 'cannot convert int64 to string'],
    [{ policy: 1 }, 'cannot convert int64 to v1.PullPolicy'],
    [{ policy: 1.5 }, 'unrecognized type: string'],
    [{ name: true }, 'unrecognized type: string'],
    [{ count: '1' }, 'unrecognized type: int32'],
    [{ count: 1.5 }, 'cannot convert float64 to int32'],
    [{ ratio: 'x' }, 'unrecognized type: float64'],
    [{ on: 1 }, 'unrecognized type: bool'],
    [{ secret: 1 }, 'cannot restore slice from int64'],
    [{ secret: '%' }, 'error decoding from json: illegal base64 data at input byte 0'],
    [{ cpu: 'x' }, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    [{ since: 5 }, 'json: cannot unmarshal number into Go value of type string'],
    [{ port: true }, 'json: cannot unmarshal bool into Go value of type int32'],
    [{ labels: [] }, 'cannot restore map from slice'],
    [{ labels: { a: 1 } }, 'cannot convert int64 to string'],
    [{ args: {} }, 'cannot restore slice from map'],
    [{ args: ['a', {}] }, 'unrecognized type: string'],
    [{ inner: 'x' }, 'cannot restore struct from: string'],
    [{ inner: { name: [] }, count: 'first in the order of the definition' }, 'unrecognized type: int32'],
  ])('refuses %j', (value, error) => {
    expect(restoreError(THING, value)).toBe(error);
  });

  it('takes integers for any number, and null for anything', () => {
    const value = { name: null, count: 1, ratio: 2, labels: null, args: [null], inner: null, port: 'http', unknown: 5 };
    expect(restoreError(THING, value)).toBeUndefined();
  });
});

describe('the kind and version of a restored document', () => {
  it('may be any, or missing, but are texts', () => {
    expect(restoreNameError({ kind: 'Other', apiVersion: null })).toBeUndefined();
    expect(restoreNameError({})).toBeUndefined();
    expect(restoreNameError({ kind: true, apiVersion: 5 })).toBe('unrecognized type: string');
    expect(restoreNameError({ apiVersion: 5 })).toBe('cannot convert int64 to string');
  });
});
