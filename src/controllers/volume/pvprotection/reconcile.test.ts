import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { reconcileVolume } from './reconcile.ts';

const HELD = ['kubernetes.io/pv-protection'];

function volume(phase: string, finalizers: readonly string[], deleted: boolean): core.PersistentVolume {
  const deletion = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return { metadata: { name: 'v', finalizers: [...finalizers], ...deletion }, spec: {}, status: { phase } };
}

describe('a volume', () => {
  it.each<[string, core.PersistentVolume, readonly string[] | undefined]>([
    ['gets its finalizer when it has none', volume('Available', [], false), HELD],
    ['keeps the finalizers of others', volume('Bound', ['a/b'], false), ['a/b', ...HELD]],
    ['is left alone while it is not deleted', volume('Bound', HELD, false), undefined],
    ['is kept while it is bound', volume('Bound', HELD, true), undefined],
    ['goes when it is available', volume('Available', HELD, true), []],
    ['goes when it is released', volume('Released', [...HELD, 'a/b'], true), ['a/b']],
    ['gets no finalizer when it is going', volume('Released', ['a/b'], true), undefined],
  ])('%s', (_name, of, expected) => {
    expect(reconcileVolume(of)?.metadata.finalizers).toEqual(expected);
  });
});
