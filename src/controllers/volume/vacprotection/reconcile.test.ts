import { describe, expect, it } from 'vitest';
import type { storage } from '#api';
import { classesOfClaim, reconcileClass } from './reconcile.ts';

const PROTECTED = ['kubernetes.io/vac-protection'];

function attributes(finalizers: readonly string[], deleted: boolean): storage.VolumeAttributesClass {
  const deletion = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return { metadata: { name: 'gold', finalizers: [...finalizers], ...deletion }, driverName: 'x' };
}

describe('a class of volume attributes', () => {
  it.each<[string, storage.VolumeAttributesClass, boolean, readonly string[] | undefined]>([
    ['gets its finalizer when it has none', attributes([], false), false, PROTECTED],
    ['is left alone while it is not deleted', attributes(PROTECTED, false), false, undefined],
    ['is kept while something names it', attributes(PROTECTED, true), true, undefined],
    ['goes when nothing names it', attributes([...PROTECTED, 'a/b'], true), false, ['a/b']],
  ])('%s', (_name, of, isUsed, expected) => {
    expect(reconcileClass(of, isUsed)?.metadata.finalizers).toEqual(expected);
  });

  it('is named by claims that want it, have it, or are on their way to it', () => {
    const status = {
      currentVolumeAttributesClassName: 'silver',
      modifyVolumeStatus: { status: 'Pending', targetVolumeAttributesClassName: 'gold' },
    };
    expect(classesOfClaim({ metadata: { name: 'c' }, spec: { volumeAttributesClassName: 'gold' }, status })).toEqual(['gold', 'silver']);
  });
});
