import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { claimOf, volumeOf } from './claims.test-data.ts';
import { findMatch, volumeMismatch } from './match-volume.ts';

type Volume = core.PersistentVolume;

const RESERVED = { claimRef: { name: 'c', namespace: 'n' } };
const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const large = (storage: string) => ({ spec: { capacity: { storage } } });

describe('a claim matches', () => {
  it.each<[string, readonly Volume[], string | undefined]>([
    ['a volume of its size', [volumeOf('a')], 'a'],
    ['the smallest that is large enough', [volumeOf('a', large('5Gi')), volumeOf('b', large('2Gi')), volumeOf('c', large('500Mi'))], 'b'],
    ['nothing that is too small', [volumeOf('a', large('1023Mi'))], undefined],
    ['nothing of another class', [volumeOf('a', { spec: { storageClassName: 'fast' } })], undefined],
    ['nothing of another volume mode', [volumeOf('a', { spec: { volumeMode: 'Block' } })], undefined],
    ['nothing that lacks an access mode', [volumeOf('a', { spec: { accessModes: ['ReadOnlyMany'] } })], undefined],
    ['nothing of another attributes class', [volumeOf('a', { spec: { volumeAttributesClassName: 'gold' } })], undefined],
    ['nothing that is not available', [volumeOf('a', { phase: 'Released' }), volumeOf('b', { phase: 'Pending' })], undefined],
    ['nothing that is deleted', [volumeOf('a', { metadata: DELETED })], undefined],
    [
      'nothing that is reserved for another',
      [
        volumeOf('a', { spec: { claimRef: { name: 'd', namespace: 'n' } } }),
        volumeOf('b', { spec: { claimRef: { name: 'c', namespace: 'm' } } }),
      ],
      undefined,
    ],
    ['nothing that was bound to one of its name', [volumeOf('a', { spec: { claimRef: { ...RESERVED.claimRef, uid: 'old' } } })], undefined],
    [
      'what is reserved for it, even if larger',
      [volumeOf('a'), volumeOf('b', { spec: { ...RESERVED, capacity: { storage: '9Gi' } } })],
      'b',
    ],
    ['what is reserved for it, whatever its class', [volumeOf('a', { spec: { ...RESERVED, storageClassName: 'fast' } })], 'a'],
    ['nothing that is reserved for it and too small', [volumeOf('a', { spec: { ...RESERVED, capacity: { storage: '1Mi' } } })], undefined],
    [
      'rather a larger volume than one with more access modes',
      [volumeOf('a', { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } }), volumeOf('b', large('7Gi'))],
      'b',
    ],
  ])('%s', (_name, volumes, expected) => {
    expect(findMatch(claimOf(), volumes, { waitsForConsumer: false })?.metadata.name).toBe(expected);
  });

  it('only volumes that its selector selects', () => {
    const volumes = [volumeOf('a'), volumeOf('b', { metadata: { labels: { tier: 'gold' } } })];
    const claim = claimOf({ spec: { selector: { matchLabels: { tier: 'gold' } } } });
    expect(findMatch(claim, volumes, { waitsForConsumer: false })?.metadata.name).toBe('b');
  });

  it('only what the scheduler reserved when it waits for its consumer', () => {
    const reserved = volumeOf('b', { spec: RESERVED });
    expect(findMatch(claimOf(), [volumeOf('a')], { waitsForConsumer: true })).toBeUndefined();
    expect(findMatch(claimOf(), [volumeOf('a'), reserved], { waitsForConsumer: true })).toBe(reserved);
  });
});

describe('a volume that a claim names', () => {
  it.each<[string, Volume, string | undefined]>([
    ['fits', volumeOf('a'), undefined],
    ['is going', volumeOf('a', { metadata: DELETED }), 'the volume is marked for deletion "a"'],
    ['is too small', volumeOf('a', large('1Mi')), 'requested PV is too small'],
    ['has another class', volumeOf('a', { spec: { storageClassName: '' } }), 'storageClassName does not match'],
    ['has other attributes', volumeOf('a', { spec: { volumeAttributesClassName: 'x' } }), 'volumeAttributesClassName does not match'],
    ['has another mode', volumeOf('a', { spec: { volumeMode: 'Block' } }), 'incompatible volumeMode'],
    ['lacks an access mode', volumeOf('a', { spec: { accessModes: [] } }), 'incompatible accessMode'],
  ])('%s', (_name, volume, expected) => {
    expect(volumeMismatch(volume, claimOf())).toBe(expected);
  });
});
