import { describe, expect, test } from 'vitest';
import type { ListResponse } from '../handlers/api-response.ts';
import { encodeMedia, type MediaOptions } from '../request/media.ts';
import { listItems, TextListBody } from './text-list-body.ts';

const metadata = { resourceVersion: '7', continue: '' };
const object = (name: string) => ({ kind: 'Thing', apiVersion: 'v1', metadata: { name }, spec: { list: [1, { a: 'b' }], none: {} } });

function listOf(count: number, itemsNameKind: boolean): ListResponse {
  const resource = { listKind: 'ThingList', apiVersion: 'v1', itemsNameKind };
  return { resource, items: Array.from({ length: count }, (_, i) => ({ object: object(`n${i}`) })) } as unknown as ListResponse;
}

function bodyOf(list: ListResponse, media: MediaOptions): TextListBody {
  return new TextListBody({ head: { kind: 'ThingList', apiVersion: 'v1', metadata }, name: 'items', items: listItems(list) }, media);
}

function textOf(body: TextListBody): string {
  return Buffer.concat([...body.chunks()]).toString();
}

const MEDIA: readonly MediaOptions[] = [
  { mediaType: 'application/json', pretty: false },
  { mediaType: 'application/json', pretty: true },
  { mediaType: 'application/yaml', pretty: false },
];

describe.each(MEDIA)('as $mediaType, indented: $pretty', (media) => {
  test.each([0, 1, 3])('a list of %i items is written item by item as it is in one go', (count) => {
    const list = listOf(count, true);
    const whole = { kind: 'ThingList', apiVersion: 'v1', metadata, items: list.items.map((item) => item.object) };
    expect(textOf(bodyOf(list, media))).toBe(encodeMedia(whole, media, undefined).toString());
  });

  test.each([0, 1, 3])('a table of %i rows is written row by row as it is in one go', (count) => {
    const head = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, columnDefinitions: [{ name: 'Name' }] };
    const rows = Array.from({ length: count }, (_, i) => ({ cells: [`n${i}`, i], object: null }));
    expect(textOf(new TextListBody({ head, name: 'rows', items: rows }, media))).toBe(
      encodeMedia({ ...head, rows }, media, undefined).toString(),
    );
  });

  test('a long list comes in parts', () => {
    expect([...bodyOf(listOf(5000, true), media).chunks()].length).toBeGreaterThan(1);
  });
});

test('items of built-in kinds do not name their kind', () => {
  expect(JSON.parse(textOf(bodyOf(listOf(1, false), MEDIA[0]!))).items).toEqual([{ metadata: { name: 'n0' }, spec: object('').spec }]);
});
