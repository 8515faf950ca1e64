import { describe, expect, it } from 'vitest';
import { deleteOptions } from './delete-options.ts';
import type { ResourceCall } from './resource-call.ts';

function read({ query = '', body }: { query?: string; body?: string }) {
  const bytes = { type: 'bytes', contentType: '', read: async () => Buffer.from(body ?? '') };
  return deleteOptions({ request: { query: new URLSearchParams(query), body: bytes } } as unknown as ResourceCall);
}

describe('the options of a deletion', () => {
  it.each([
    [{ query: 'orphanDependents=yes' }, { orphanDependents: true }],
    [{ query: 'orphanDependents=False&gracePeriodSeconds=5' }, { orphanDependents: false, gracePeriodSeconds: 5 }],
    [
      { query: 'dryRun=All', body: '{"propagationPolicy":"Orphan"}' },
      { propagationPolicy: 'Orphan', dryRun: false },
    ],
    [{ body: '{"kind":"DeleteOptions","apiVersion":"apps/v1","dryRun":["All"]}' }, { dryRun: true }],
  ])('come from the body or the query: %j', async (sent, expected) => {
    expect(await read(sent)).toMatchObject(expected);
  });

  it.each([
    [
      { body: '{"kind":"Pod","apiVersion":"v1"}' },
      'no kind "Pod" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [{ body: '{x' }, "couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of object key string"],
    [{ query: 'gracePeriodSeconds=' }, 'strconv.ParseInt: parsing "": invalid syntax'],
    [
      { query: 'propagationPolicy=X&orphanDependents=1&dryRun=y' },
      'DeleteOptions.meta.k8s.io "" is invalid: [propagationPolicy: Invalid value: "X": orphanDependents and deletionPropagation cannot be both set, ' +
        'propagationPolicy: Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil", ' +
        'dryRun: Unsupported value: ["y"]: supported values: "All"]',
    ],
    [
      { body: '{"kind":5}' },
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
  ])('are refused: %j', async (sent, message) => {
    await expect(read(sent)).rejects.toThrow(message);
  });
});
