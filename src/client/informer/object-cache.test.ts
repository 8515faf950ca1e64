import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube-object.ts';
import { keyOf } from '../kube-object.ts';
import { ObjectCache } from './object-cache.ts';

const colours = (object: KubeObject) => (object.colours as string[]) ?? [];
const named = (name: string, namespace: string, ...of: string[]): KubeObject => ({ metadata: { name, namespace }, colours: of });

describe('the cache of an informer', () => {
  it('finds objects by key, namespace and index', () => {
    const cache = new ObjectCache<KubeObject>();
    cache.addIndex('colour', colours);
    cache.set(named('a', 'x', 'red'));
    cache.set(named('b', 'x', 'red', 'blue'));
    cache.set(named('a', 'y', 'blue'));
    expect(cache.get({ name: 'a', namespace: 'y' })).toEqual(named('a', 'y', 'blue'));
    expect(cache.list('x').map((object) => object.metadata.name)).toEqual(['a', 'b']);
    expect(cache.byIndex('colour', 'blue').map(keyOf)).toEqual(['x/b', 'y/a']);
    expect(cache.byIndex('colour', 'green')).toEqual([]);
  });

  it('refuses to look in an index that is not there, and to define one in two ways', () => {
    const cache = new ObjectCache<KubeObject>();
    expect(() => cache.byIndex('colour', 'red')).toThrow('there is no index "colour"');
    cache.addIndex('colour', colours);
    cache.addIndex('colour', colours);
    expect(() => cache.addIndex('colour', () => [])).toThrow('in another way');
  });

  it('keeps an object that an index fails on out of that index, and reports it once', () => {
    const failures: string[] = [];
    const cache = new ObjectCache<KubeObject>((object, error) => failures.push(`${object.metadata.name}: ${(error as Error).message}`));
    cache.addIndex('colour', (object) => (object.colours as string[]).map((colour) => colour.toUpperCase()));
    cache.set({ metadata: { name: 'bad', namespace: 'x' }, colours: [7] });
    cache.set(named('good', 'x', 'red'));
    cache.set(named('bad', 'x', 'blue'));
    expect(cache.byIndex('colour', 'RED').map(keyOf)).toEqual(['x/good']);
    expect(cache.byIndex('colour', 'BLUE').map(keyOf)).toEqual(['x/bad']);
    expect(failures).toEqual(['bad: colour.toUpperCase is not a function']);
  });

  it('keeps every index equal to what a search through all objects finds', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const namespace = fc.constantFrom('x', 'y');
    const step = fc.record({ remove: fc.boolean(), name, namespace, colours: fc.subarray(['red', 'blue', 'green']) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const cache = new ObjectCache<KubeObject>();
        const model = new Map<string, KubeObject>();
        steps.forEach((change, i) => {
          if (i === 5) cache.addIndex('colour', colours);
          const object = named(change.name, change.namespace, ...change.colours);
          if (change.remove) cache.delete(keyOf(object));
          else cache.set(object);
          if (change.remove) model.delete(keyOf(object));
          else model.set(keyOf(object), object);
        });
        cache.addIndex('colour', colours);
        const all = [...model.values()];
        const sorted = (objects: readonly KubeObject[]) => objects.map(keyOf).sort();
        expect(sorted(cache.list())).toEqual(sorted(all));
        for (const one of ['x', 'y']) expect(sorted(cache.list(one))).toEqual(sorted(all.filter((o) => o.metadata.namespace === one)));
        for (const colour of ['red', 'blue', 'green']) {
          expect(sorted(cache.byIndex('colour', colour))).toEqual(sorted(all.filter((o) => colours(o).includes(colour))));
        }
      }),
    );
  });
});
