import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { reconcileVolume } from './reconcile.ts';

const PROTECTED = ['kubernetes.io/pv-protection'];

function volume(phase: string, finalizers: readonly string[], deleted: boolean): core.PersistentVolume {
  const deletion = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return { metadata: { name: 'v', finalizers: [...finalizers], ...deletion }, spec: {}, status: { phase } };
}

describe('a volume', () => {
  it.each<[string, core.PersistentVolume, readonly string[] | undefined]>([
    ['gets its finalizer when it has none', volume('Available', [], false), PROTECTED],
    ['keeps the finalizers of others', volume('Bound', ['a/b'], false), ['a/b', ...PROTECTED]],
    ['is left alone while it is not deleted', volume('Bound', PROTECTED, false), undefined],
    ['is kept while it is bound', volume('Bound', PROTECTED, true), undefined],
    ['goes when it is available', volume('Available', PROTECTED, true), []],
    ['goes when it is released', volume('Released', [...PROTECTED, 'a/b'], true), ['a/b']],
    ['gets no finalizer when it is going', volume('Released', ['a/b'], true), undefined],
  ])('%s', (_name, of, expected) => {
    expect(reconcileVolume(of)?.metadata.finalizers).toEqual(expected);
  });
});
