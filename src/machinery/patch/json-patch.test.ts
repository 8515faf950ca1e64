import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { applyJsonPatch, decodeJsonPatch, type JsonPatchOperation, patchRejected } from './json-patch.ts';
import { JsonPatchError } from './json-patch-error.ts';
import { sameJson } from './same-json.ts';

const document = () => ({ data: { a: '1', b: '2' }, list: ['x', 'y', 'z'], nested: [{ deep: { n: 1 } }] });

describe('a JSON patch', () => {
  it.each<[string, JsonPatchOperation[], JsonValue]>([
    ['adds a key', [{ op: 'add', path: '/data/c', value: '3' }], { ...document(), data: { a: '1', b: '2', c: '3' } }],
    ['adds null without a value', [{ op: 'add', path: '/data/c' }], { ...document(), data: { a: '1', b: '2', c: null } }],
    ['replaces a missing key', [{ op: 'replace', path: '/data/c', value: 3 }], { ...document(), data: { a: '1', b: '2', c: 3 } }],
    ['ignores what stands before the first slash', [{ op: 'add', path: 'data/c', value: 3 }], { ...document(), c: 3 }],
    ['removes a key', [{ op: 'remove', path: '/data/a' }], { ...document(), data: { b: '2' } }],
    ['moves a key', [{ op: 'move', from: '/data/a', path: '/data/c' }], { ...document(), data: { b: '2', c: '1' } }],
    [
      'copies nothing from a missing key',
      [{ op: 'copy', from: '/data/no', path: '/data/c' }],
      { ...document(), data: { a: '1', b: '2', c: null } },
    ],
    ['inserts into a list', [{ op: 'add', path: '/list/1', value: 'n' }], { ...document(), list: ['x', 'n', 'y', 'z'] }],
    ['appends at the length', [{ op: 'add', path: '/list/3', value: 'n' }], { ...document(), list: ['x', 'y', 'z', 'n'] }],
    ['appends with a dash', [{ op: 'add', path: '/list/-', value: 'n' }], { ...document(), list: ['x', 'y', 'z', 'n'] }],
    ['appends with -1', [{ op: 'add', path: '/list/-1', value: 'n' }], { ...document(), list: ['x', 'y', 'z', 'n'] }],
    ['removes the last element', [{ op: 'remove', path: '/list/-1' }], { ...document(), list: ['x', 'y'] }],
    ['replaces an element', [{ op: 'replace', path: '/list/2', value: 'n' }], { ...document(), list: ['x', 'y', 'n'] }],
    ['reaches through lists', [{ op: 'replace', path: '/nested/0/deep/n', value: 2 }], { ...document(), nested: [{ deep: { n: 2 } }] }],
    ['replaces everything', [{ op: 'replace', path: '', value: [1] }], [1]],
    ['decodes ~1 and ~0', [{ op: 'add', path: '/data/a~1b~01', value: 1 }], { ...document(), data: { a: '1', b: '2', 'a/b~1': 1 } }],
    ['tests a missing key against null', [{ op: 'test', path: '/data/no', value: null }], document()],
    ['tests deeply', [{ op: 'test', path: '/data', value: { b: '2', a: '1' } }], document()],
    ['tests everything', [{ op: 'test', path: '', value: document() }], document()],
  ])('%s', (_, operations, expected) => {
    const before = document();
    expect(applyJsonPatch(before, operations)).toEqual(expected);
    expect(before).toEqual(document());
  });

  it.each<[string, JsonPatchOperation]>([
    ['remove of a missing key', { op: 'remove', path: '/data/no' }],
    ['remove below a missing parent', { op: 'remove', path: '/no/no' }],
    ['remove of everything', { op: 'remove', path: '' }],
    ['add past the end', { op: 'add', path: '/list/4', value: 1 }],
    ['add far before the start', { op: 'add', path: '/list/-5', value: 1 }],
    ['remove past the end', { op: 'remove', path: '/list/3' }],
    ['replace past the end', { op: 'replace', path: '/list/3', value: 1 }],
    ['an index that is no number', { op: 'replace', path: '/list/x', value: 1 }],
    ['a way through a scalar', { op: 'add', path: '/data/a/b', value: 1 }],
    ['a failed test', { op: 'test', path: '/data/a', value: 1 }],
    ['a test of empty against absent', { op: 'test', path: '/data', value: {} }],
    ['no path', { op: 'add', value: 1 }],
    ['no from', { op: 'move', path: '/data/c' }],
    ['a scalar for everything', { op: 'replace', path: '', value: 1 }],
    ['an unknown operation', { op: 'frob', path: '/data' }],
    ['no operation', { path: '/data' }],
    ['inherited members', { op: 'remove', path: '/data/constructor' }],
    ['the prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
  ])('is refused for %s', (_, operation) => {
    expect(() => applyJsonPatch(document(), [operation])).toThrow(JsonPatchError);
  });

  it('is all or nothing, and shares what it does not touch', () => {
    const before = document();
    const after = applyJsonPatch(before, [{ op: 'add', path: '/data/c', value: '3' }]) as ReturnType<typeof document>;
    expect(after.list).toBe(before.list);
    expect(after.nested).toBe(before.nested);
  });

  it('keeps copies apart', () => {
    const operations = [
      { op: 'add', path: '/nested/0/deep/m', value: 1 },
      { op: 'copy', from: '/nested/0', path: '/nested/-' },
      { op: 'replace', path: '/nested/0/deep/n', value: 9 },
    ];
    expect(applyJsonPatch(document(), operations)).toMatchObject({ nested: [{ deep: { n: 9, m: 1 } }, { deep: { n: 1, m: 1 } }] });
  });

  it('does not change the values it carries', () => {
    const value = { x: [1] };
    const operations = [
      { op: 'add', path: '/v', value },
      { op: 'add', path: '/v/x/-', value: 2 },
    ];
    expect(applyJsonPatch({}, operations)).toEqual({ v: { x: [1, 2] } });
    expect(value).toEqual({ x: [1] });
  });

  it('treats __proto__ as data', () => {
    const after = applyJsonPatch({ a: {} }, [{ op: 'add', path: '/a/__proto__', value: { x: 1 } }]) as { a: object };
    expect(Object.keys(after.a)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(after.a)).toBe(Object.prototype);
  });

  it('cannot be made to double a document without end', () => {
    const doubling = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(() => applyJsonPatch({ a: ['x'.repeat(1000)] }, doubling)).toThrow('exceeding the limit');
  });
});

describe('decoding', () => {
  it.each([
    [{}, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [['x'], 'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp'],
    [[{ op: 1 }], 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
    [Array(10_001).fill({}), 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'],
  ])('%# is refused: %s', (value, message) => {
    expect(() => decodeJsonPatch(value as JsonValue)).toThrow(message);
  });

  it('names unknown members', () => {
    expect(decodeJsonPatch([{ op: 'add', x: 1 }]).unknownFields).toEqual(['json patch unknown field "[0].x"']);
  });

  it('failures look the same to a client', () => {
    expect(patchRejected(new JsonPatchError('x')).status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  });
});

describe('properties', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

  it('adding a key and removing it gives back the document; add makes test hold', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.string(), json, (object, key, value) => {
        fc.pre(!Object.hasOwn(object, key));
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const add = { op: 'add', path, value };
        expect(sameJson(applyJsonPatch(object, [add, { op: 'remove', path }]), object)).toBe(true);
        applyJsonPatch(object, [add, { op: 'test', path, value }]);
      }),
    );
  });

  it('no patch crashes, pollutes prototypes or changes its input', () => {
    const path = fc.array(fc.constantFrom('a', 'b', '0', '-1', '-', '', '__proto__', 'constructor')).map((steps) => `/${steps.join('/')}`);
    const operation = fc.record({ op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'), path, from: path, value: json });
    const start = fc.constant({ a: { b: [1, { a: 2 }] }, b: ['x'] });
    fc.assert(
      fc.property(start, fc.array(operation), (object, operations) => {
        const before = JSON.stringify([object, operations]);
        try {
          applyJsonPatch(object, operations);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPatchError);
        }
        expect(JSON.stringify([object, operations])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});

describe('a JSON patch of long lists', () => {
  const items = Array.from({ length: 5000 }, (_, i) => i);
  const apply = (...operations: JsonPatchOperation[]) => applyJsonPatch({ list: items, other: [] }, operations);

  it('inserts, removes and replaces items at both ends', () => {
    const result = apply(
      { op: 'add', path: '/list/0', value: 'first' },
      { op: 'remove', path: '/list/1' },
      { op: 'add', path: '/list/-', value: 'last' },
      { op: 'replace', path: '/list/1', value: 'second' },
      { op: 'remove', path: '/list/-2' },
    );
    expect(result).toEqual({ list: ['first', 'second', ...items.slice(2, 4999), 'last'], other: [] });
    expect(items).toHaveLength(5000);
  });

  it('copies, moves and tests a list as the operations before have left it', () => {
    const result = apply(
      { op: 'remove', path: '/list/0' },
      { op: 'test', path: '/list', value: items.slice(1) },
      { op: 'copy', from: '/list', path: '/copy' },
      { op: 'remove', path: '/list/0' },
      { op: 'move', from: '/list', path: '/moved' },
      { op: 'add', path: '/copy/-', value: 'x' },
      { op: 'add', path: '/moved/0', value: 'y' },
    );
    expect(result).toEqual({ other: [], copy: [...items.slice(1), 'x'], moved: ['y', ...items.slice(2)] });
  });

  it('keeps what is copied out of a list apart from the list', () => {
    const operations: JsonPatchOperation[] = [
      { op: 'add', path: '/list/0', value: { a: 1 } },
      { op: 'copy', from: '/list/0', path: '/other/0' },
      { op: 'replace', path: '/list/0/a', value: 2 },
      { op: 'replace', path: '/other/0/a', value: 3 },
    ];
    expect(apply(...operations)).toEqual({ list: [{ a: 2 }, ...items], other: [{ a: 3 }] });
  });

  it('tells the length of the changed list from that of the original', () => {
    expect(() => apply({ op: 'remove', path: '/list/0' }, { op: 'remove', path: '/list/4999' })).toThrow('invalid index referenced');
    expect(() => apply({ op: 'remove', path: '/list/0' }, { op: 'replace', path: '/list/5/a', value: 1 })).toThrow('missing path');
  });
});

describe('a JSON patch for a client that wants field validation ignored', () => {
  const lenient = (value: JsonValue) => decodeJsonPatch(value, { lenient: true });

  it('is still a list of operations', () => {
    expect(() => lenient({})).toThrow('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
    expect(() => lenient(['x'])).toThrow('json: cannot unmarshal string into Go value of type jsonpatch.Operation');
  });

  it('fails by its operations, not in reading, when their members are of the wrong type', () => {
    const wrong: JsonValue[] = [
      { op: 5, path: '/data/a' },
      { op: 'add', path: 5, value: 'x' },
    ];
    for (const operation of wrong) expect(() => applyJsonPatch(document(), lenient([operation]).operations)).toThrow(JsonPatchError);
    expect(lenient([{ op: 'add', path: '/x', odd: 1 }]).unknownFields).toEqual([]);
  });
});
