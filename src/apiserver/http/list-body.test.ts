import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { CachedObject, ConvertedObject } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { ObjectEncoding, StoredObject } from '../watch-cache/object-encoding.ts';
import { ListBody } from './list-body.ts';

const widgets = (itemsNameKind: boolean) =>
  ({ kind: 'Thing', listKind: 'ThingList', apiVersion: 'example.com/v1', itemsNameKind }) as unknown as ServedResource;

const ENCODING = new ObjectEncoding('Thing', 'example.com/v1');
const example = (name: string) => ({ kind: 'Thing', apiVersion: 'example.com/v1', metadata: { name } }) as unknown as KubeObject;
const withVersion = (name: string) => ({ ...example(name), metadata: { name, resourceVersion: '7' } }) as unknown as KubeObject;
const converted = (name: string) => new ConvertedObject(withVersion(name), 7);
const cached = (name: string) => CachedObject.of(name, 7, StoredObject.of(example(name), ENCODING));

function listOf(names: readonly string[], itemsNameKind: boolean): ListBody {
  const items = names.map((name, i) => (i % 2 === 0 ? converted(name) : cached(name)));
  return new ListBody({ type: 'list', resource: widgets(itemsNameKind), items, revision: 1 }, { resourceVersion: '1' });
}

describe('a list as it leaves', () => {
  test('is the same in chunks of any size, and as long as it says', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.boolean(), fc.integer({ min: 1, max: 300 }), (names, itemsNameKind, size) => {
        const list = listOf(names, itemsNameKind);
        const copies: Buffer[] = [];
        for (const chunk of list.chunks(Buffer.alloc(size))) copies.push(Buffer.from(chunk));
        const joined = Buffer.concat(copies);
        expect(copies.length).toBe(Math.ceil(list.length / size));
        expect(joined.length).toBe(list.length);
        expect(joined.equals(list.whole())).toBe(true);
      }),
    );
  });

  test('names the kind of its items only where they may be of several versions', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.boolean(), (names, itemsNameKind) => {
        const own = itemsNameKind ? { kind: 'Thing', apiVersion: 'example.com/v1' } : {};
        expect(JSON.parse(listOf(names, itemsNameKind).whole().toString())).toEqual({
          kind: 'ThingList',
          apiVersion: 'example.com/v1',
          metadata: { resourceVersion: '1' },
          items: names.map((name) => ({ ...own, metadata: { name, resourceVersion: '7' } })),
        });
      }),
    );
  });
});
