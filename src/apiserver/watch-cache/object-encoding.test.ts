import { describe, expect, test } from 'vitest';
import { CachedObject } from './cached-object.ts';
import type { KubeObject } from './kube-object.ts';
import { ObjectEncoding, StoredObject } from './object-encoding.ts';

const KEEPS_BYTES = new ObjectEncoding('Thing', 'example.com/v1');
const NOT_KEPT = new ObjectEncoding('Thing', 'example.com/v1', { keepsBytes: false });
const widget = { metadata: { name: 'a', namespace: 'x' }, text: 'é' } as unknown as KubeObject;

describe('a stored object', () => {
  test('is one object with what is served, and its version is not in its bytes', () => {
    const stored = StoredObject.of(widget, KEEPS_BYTES);
    const cached = CachedObject.of('/things/x/a', 7, stored);
    expect(cached.object).toBe(stored.object);
    expect(cached.object.metadata.resourceVersion).toBe('7');
    expect(stored.bytes.toString()).toBe(
      '{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"x"},"text":"é"}',
    );
    expect(JSON.parse(cached.json().toString()).metadata.resourceVersion).toBe('7');
  });

  test('has raw fields escaped as Go does, and no others', () => {
    const encoding = new ObjectEncoding('Thing', 'example.com/v1', { rawFields: new Set(['raw']) });
    const first = { metadata: { name: 'a' }, text: '<', raw: { a: '<&>\u2028' } } as unknown as KubeObject;
    const text =
      '{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a"},"text":"<","raw":{"a":"\\u003c\\u0026\\u003e\\u2028"}}';
    expect(StoredObject.of(first, encoding).bytes.toString()).toBe(text);
    const cached = CachedObject.of('/things/a', 7, StoredObject.of(first, encoding));
    const changed = { ...first, raw: { a: '&' } } as unknown as KubeObject;
    expect(StoredObject.of(changed, encoding, cached).bytes.toString()).toContain('"raw":{"a":"\\u0026"}');
  });

  test('keeps its bytes once it is written, where its kind does', () => {
    const stored = StoredObject.of(widget, KEEPS_BYTES);
    const { bytes } = stored;
    stored.detach();
    expect(stored.bytes).toBe(bytes);
  });

  test('is encoded anew for each reader, where its kind does not keep bytes', () => {
    const stored = StoredObject.of(widget, NOT_KEPT);
    const { bytes } = stored;
    expect(stored.bytes).toBe(bytes);
    stored.detach();
    expect(stored.bytes).not.toBe(stored.bytes);
    expect(stored.bytes).toEqual(bytes);
    expect(stored.knownLength).toBe(bytes.length);
  });

  test('keeps bytes that it would not be encoded to itself', () => {
    const read = (text: string) => StoredObject.read(JSON.parse(text), NOT_KEPT, Buffer.from(text));
    const own = read(StoredObject.of(widget, NOT_KEPT).bytes.toString());
    expect(own.bytes).not.toBe(own.bytes);
    const foreign = read('{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"\\u0061"}}');
    expect(foreign.bytes).toBe(foreign.bytes);
    expect(foreign.knownLength).toBe(foreign.bytes.length);
  });
});
