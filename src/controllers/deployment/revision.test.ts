import { describe, expect, test } from 'vitest';
import type { apps } from '#api';
import { parseRevision, REVISION } from './annotations.ts';
import { compareRevisions, currentSetAnnotations, lastRevision, maxRevision } from './revision.ts';

const setOf = (revision?: string) =>
  ({
    metadata: { name: `r${revision}`, annotations: revision === undefined ? {} : { [REVISION]: revision } },
  }) as unknown as apps.ReplicaSet;
const LARGE = '3546343826724305832';

describe('revisions of a deployment', () => {
  test('are exact beyond 2^53', () => {
    expect(maxRevision([setOf('7'), setOf(LARGE)]) + 1n).toBe(3546343826724305833n);
    const annotations = currentSetAnnotations({ metadata: { name: 'd' } } as apps.Deployment, {}, maxRevision([setOf(LARGE)]) + 1n);
    expect(annotations[REVISION]).toBe('3546343826724305833');
  });

  test('are ordered exactly beyond 2^53', () => {
    const sets = ['3546343826724305834', LARGE, '3546343826724305833'].map(setOf).sort(compareRevisions);
    expect(sets.map(({ metadata }) => metadata.annotations?.[REVISION])).toEqual([LARGE, '3546343826724305833', '3546343826724305834']);
  });

  test('the second-highest is the last one, and 0 without one', () => {
    expect([lastRevision([setOf('3'), setOf('1'), setOf('2')]), lastRevision([setOf('1')]), lastRevision([])]).toEqual([2n, 0n, 0n]);
  });

  test('replica sets without a revision count as 0', () => {
    expect(maxRevision([setOf(), setOf('x')])).toBe(0n);
  });

  test.each(['', 'x', '1.5', '9223372036854775808', '-9223372036854775809', '1e3', ' 1', '99999999999999999999'])(
    '%j is no revision',
    (text) => {
      expect(parseRevision(text)).toBeUndefined();
    },
  );
});
