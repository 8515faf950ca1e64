import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeJson, type JsonValue, markRecurring } from '#machinery';
import type { KubeObject } from './kube-object.ts';
import { lengthBound } from './length-bound.ts';
import { ObjectEncoding, StoredObject } from './object-encoding.ts';

const ENCODING = new ObjectEncoding('Thing', 'example.com/v1');

describe("the bound of an object's length", () => {
  test('is never less than what the object takes', () => {
    const values = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), values), values, (rest, managed) => {
        const metadata = { name: 'a', annotations: rest, managedFields: [{ manager: 'm', fieldsV1: rest }, { extra: managed }] };
        const object = { ...rest, metadata } as unknown as KubeObject;
        expect(lengthBound(object)).toBeGreaterThanOrEqual(Buffer.byteLength(encodeJson(object as unknown as JsonValue)));
      }),
    );
  });

  test('is that of the parts, also for parts that are known already', () => {
    const spec = { text: 'x'.repeat(10_000) };
    markRecurring(spec);
    const object = (name: string) => ({ metadata: { name }, spec }) as unknown as KubeObject;
    expect(lengthBound(object('a'))).toBe(lengthBound(object('b')));
    expect(lengthBound(object('a'))).toBeGreaterThan(10_000);
  });

  test('gives way to the length once that is known', () => {
    const stored = StoredObject.of({ metadata: { name: 'a' }, text: 'é' } as unknown as KubeObject, ENCODING);
    expect(stored.mostBytes).toBeGreaterThan(stored.bytes.length);
    expect(stored.mostBytes).toBe(stored.bytes.length);
    expect(stored.bytes).toBe(stored.bytes);
  });
});
