import { describe, expect, it } from 'vitest';
import { AttachReservations } from './attach-reservations.ts';

const reserved = (isAttached: boolean) => {
  const reservations = new AttachReservations();
  reservations.reserve('pv', { nodeName: 'n', isAttached: async () => isAttached });
  return reservations;
};
const NONE = { cached: new Set<string>(), desired: new Set<string>() };
const PV = new Set(['pv']);

describe('a volume that is reserved for a node', () => {
  it.each([
    ['is free when the cache shows its attachment', true, { ...NONE, cached: PV }, undefined],
    ['stays while the node wants it', false, { ...NONE, desired: PV }, 'n'],
    ['stays while it is attached and the cache does not show it, although its pod is gone', true, NONE, 'n'],
    ['is free when it was never attached', false, NONE, undefined],
  ])('%s', async (_, isAttached, state, node) => {
    const reservations = reserved(isAttached);
    await reservations.release('n', state);
    expect(reservations.nodeOf('pv')).toBe(node);
  });

  it('is not freed by another node', async () => {
    const reservations = reserved(false);
    await reservations.release('m', NONE);
    expect(reservations.nodeOf('pv')).toBe('n');
  });
});
