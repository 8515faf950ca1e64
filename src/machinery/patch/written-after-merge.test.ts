import { expect, test } from 'vitest';
import type { JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { applyMergePatch } from './merge-patch.ts';
import { writtenAfterMerge } from './written-after-merge.ts';

const LIVE: JsonObject = { spec: { replicas: 3, name: 'a' }, other: { x: 1 } };

function textsOf(patch: string): unknown {
  const parsed = parseJson(patch);
  const document = applyMergePatch(LIVE, parsed.value as JsonObject);
  const written = writtenAfterMerge(parsed, document);
  return (
    written && [...written.values()].flatMap((members) => members.flatMap(({ key, text }) => (text === undefined ? [] : [[key, text]])))
  );
}

test.each([
  ['{"spec":{"replicas":1}}', undefined],
  ['{"spec":{"replicas":1.0}}', [['replicas', '1.0']]],
  ['{"spec":{"replicas":1.0,"replicas":2}}', undefined],
  ['{"spec":{"replicas":2,"replicas":1e0}}', [['replicas', '1e0']]],
  ['{"new":{"deep":[1,{"n":2.0}]}}', [['n', '2.0']]],
  [
    '{"list":[1.0,2,30e-1]}',
    [
      [0, '1.0'],
      [2, '30e-1'],
    ],
  ],
  ['{"spec":{"name":null},"spec":null}', undefined],
])('%s', (patch, expected) => {
  expect(textsOf(patch)).toEqual(expected);
});
