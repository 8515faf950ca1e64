import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json-value.ts';
import { applyMergePatch, createMergePatch, createThreeWayMergePatch, decodeMergePatch } from './merge-patch.ts';
import { sameJson } from './same-json.ts';

describe('a merge patch', () => {
  it.each<[JsonObject, JsonObject, JsonObject]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{}, { a: [null, { b: null, c: 1 }] }, { a: [null, { c: 1 }] }],
    [{ a: { b: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
    [{ a: null }, { a: { b: null } }, { a: {} }],
  ])('%j with %j is %j', (document, patch, expected) => {
    const before = JSON.stringify([document, patch]);
    expect(applyMergePatch(document, patch)).toEqual(expected);
    expect(JSON.stringify([document, patch])).toBe(before);
  });

  it('returns the document itself when it changes nothing', () => {
    const document = { a: { b: 1 } };
    expect(applyMergePatch(document, { a: { b: 1, c: null }, x: null })).toBe(document);
  });

  it('treats __proto__ as data', () => {
    const patch = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
    expect(Object.keys(applyMergePatch({}, patch))).toEqual(['__proto__']);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('must be an object', () => {
    expect(() => decodeMergePatch(null)).toThrow('Invalid JSON Patch');
    expect(() => decodeMergePatch('x', { lenient: true })).toThrow('Invalid JSON Patch');
    expect(() => decodeMergePatch('x')).toThrow(
      'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}',
    );
  });
});

describe('making merge patches', () => {
  const scalar = fc.constantFrom(1, 'x', true);
  const tree: fc.Arbitrary<JsonObject> = fc.letrec<{ tree: JsonObject }>((tie) => ({
    tree: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.oneof({ maxDepth: 3 }, scalar, fc.array(scalar), tie('tree'))),
  })).tree;

  it('a patch from one object to another gives the other, and nothing is left to do', () => {
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        const patch = createMergePatch(a, b);
        expect(sameJson(applyMergePatch(a, patch), b)).toBe(true);
        expect(createMergePatch(b, applyMergePatch(a, patch))).toEqual({});
      }),
    );
  });

  it('a three-way patch from the state it was made from gives what was asked', () => {
    fc.assert(
      fc.property(tree, tree, (original, modified) => {
        const patch = createThreeWayMergePatch({ original, modified, current: original });
        expect(sameJson(applyMergePatch(original, patch), modified)).toBe(true);
      }),
    );
  });

  it('a three-way patch leaves alone what others added', () => {
    const patch = createThreeWayMergePatch({
      original: { spec: { a: 1, b: { x: 1 } }, list: [1] },
      modified: { spec: { a: 2, b: {} }, list: [1] },
      current: { spec: { a: 1, b: { x: 1 }, other: 3 }, list: [1, 2], status: 'ok' },
    });
    expect(patch).toEqual({ spec: { a: 2, b: { x: null } }, list: [1] });
  });
});
