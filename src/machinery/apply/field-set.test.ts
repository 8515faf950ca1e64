import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import {
  decodeFieldSet,
  difference,
  type FieldSet,
  hasPath,
  intersection,
  isEmpty,
  pathsOf,
  recursiveDifference,
  setOfPaths,
  setsEqual,
  union,
  unionOf,
} from './field-set.ts';
import { compareElements, elementText, keyElement, parseElement, pathText, valueElement } from './path-element.ts';

const element = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'spec', '.', '__proto__').map((name) => `f:${name}`),
  fc.constantFrom('x', 'y', 'é', '"').map((name) => keyElement([`"name":${JSON.stringify(name)}`])),
  fc.constantFrom<JsonValue>('v', 7, 10, true).map(valueElement),
  fc.nat({ max: 12 }).map((index) => `i:${index}`),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });
const sets = paths.map(setOfPaths);
const texts = (set: FieldSet) => new Set(pathsOf(set).map((path) => path.join('\0')));

describe('field sets', () => {
  it('hold the paths they were made of', () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOfPaths(list);
        expect(texts(set)).toEqual(new Set(list.map((path) => path.join('\0'))));
        for (const path of list) expect(hasPath(set, path)).toBe(true);
      }),
    );
  });

  it('obey the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [inA, inB] = [texts(a), texts(b)];
        expect(texts(union(a, b))).toEqual(new Set([...inA, ...inB]));
        expect(texts(intersection(a, b))).toEqual(new Set([...inA].filter((path) => inB.has(path))));
        expect(texts(difference(a, b))).toEqual(new Set([...inA].filter((path) => !inB.has(path))));
        expect(setsEqual(union(a, b), union(b, a))).toBe(true);
        expect(isEmpty(difference(a, union(a, b)))).toBe(true);
        expect(setsEqual(a, b)).toBe(inA.size === inB.size && [...inA].every((path) => inB.has(path)));
      }),
    );
  });

  it('are joined many at a time as they are two at a time', () => {
    fc.assert(
      fc.property(fc.array(sets, { maxLength: 8 }), (many) => {
        expect(JSON.stringify(unionOf(many))).toBe(JSON.stringify(many.reduce(union, {})));
      }),
    );
  });

  it('lose what is below a path by a recursive difference', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const removed = pathsOf(b).map((path) => path.join('\0'));
        const left = pathsOf(a)
          .map((path) => path.join('\0'))
          .filter((path) => !removed.some((prefix) => path === prefix || path.startsWith(`${prefix}\0`)));
        expect(texts(recursiveDifference(a, b))).toEqual(new Set(left));
      }),
    );
  });

  it('are read back from JSON as they were, without a copy when in order', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const parsed = JSON.parse(JSON.stringify(set)) as JsonValue;
        const read = decodeFieldSet(parsed);
        expect(read).toEqual(set);
        expect(read).toBe(parsed);
      }),
    );
  });

  it('are sorted at every level, whatever order they were built or read in', () => {
    const isSorted = (node: FieldSet): boolean => {
      const elements = Object.keys(node).filter((key) => key !== '.');
      return (
        elements.every((key, i) => i === 0 || compareElements(elements[i - 1] as string, key) < 0) && Object.values(node).every(isSorted)
      );
    };
    fc.assert(fc.property(sets, sets, (a, b) => isSorted(union(a, b)) && isSorted(intersection(a, b)) && isSorted(difference(a, b))));
    const read = decodeFieldSet({ 'k:{"b":2,"a":1}': {}, 'f:z': {}, 'i:10': {}, 'i:9': {}, 'f:a': { 'v:2': {}, '.': {} } });
    expect(Object.keys(read)).toEqual(['f:a', 'f:z', 'k:{"a":1,"b":2}', 'i:9', 'i:10']);
  });

  it.each([
    [{ 'q:data': {} }, {}],
    [{ '.': {}, 'f:a': null }, { 'f:a': {} }],
    [{ 'f:a': { 'q:x': {} } }, { 'f:a': {} }],
  ])('reading %j drops what it does not know', (fields, set) => {
    expect(decodeFieldSet(fields as JsonValue)).toEqual(set);
  });

  it.each([{ a: {} }, { 'f:a': 1 }, { 'v:{': {} }, { 'k:[]': {} }, { 'i:x': {} }, { fx: {} }])('refuses %j', (fields) => {
    expect(() => decodeFieldSet(fields as JsonValue)).toThrow();
  });
});

describe('path elements', () => {
  it.each([
    ['f:spec', '.spec'],
    ['k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'],
    ['v:"a"', '[="a"]'],
    ['v:null', '[=null]'],
    ['i:3', '[3]'],
  ])('%s reads %s in messages', (encoded, text) => expect(elementText(encoded)).toBe(text));

  it('make paths that read from the root', () => {
    expect(pathText(['f:spec', 'f:containers', 'k:{"name":"c"}', 'f:image'])).toBe('.spec.containers[name="c"].image');
  });

  it('escape values as the wire format does', () => {
    expect(valueElement('<a&b>')).toBe('v:"\\u003ca\\u0026b\\u003e"');
    expect(parseElement('v:"<"')).toBe('v:"\\u003c"');
  });

  it('order numbers by value, and keys by their members', () => {
    expect(compareElements('v:9', 'v:10')).toBeLessThan(0);
    expect(compareElements('k:{"port":9}', 'k:{"port":10}')).toBeLessThan(0);
    expect(compareElements('k:{"name":"a"}', 'k:{"name":"ab"}')).toBeLessThan(0);
    expect(compareElements('k:{"name":"a b"}', 'k:{"name":"a"}')).toBeGreaterThan(0);
  });
});
