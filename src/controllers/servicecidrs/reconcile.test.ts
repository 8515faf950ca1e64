import { describe, expect, test } from 'vitest';
import type { networking } from '#api';
import { FINALIZER, reconcileServiceCidr } from './reconcile.ts';

const range = (name: string, cidr: string, metadata: object = {}, status: object = {}) =>
  ({ metadata: { name, ...metadata }, spec: { cidrs: [cidr] }, status }) as unknown as networking.ServiceCIDR;
const protectedMeta = { finalizers: [FINALIZER] };
const deleted = { ...protectedMeta, deletionTimestamp: '2026-01-01T00:00:00Z' };
const LATER = Date.parse('2026-01-01T00:00:10Z');
const reconcile = (cidr: networking.ServiceCIDR, others: readonly networking.ServiceCIDR[], addresses: readonly string[], now = LATER) =>
  reconcileServiceCidr(cidr, { others, addresses, now });

describe('a range of service addresses', () => {
  test('gets its finalizer first, then the Ready condition', () => {
    expect(reconcile(range('a', '10.0.0.0/24'), [], [])).toEqual({ type: 'add finalizer' });
    const action = reconcile(range('a', '10.0.0.0/24', protectedMeta), [], []);
    expect(action).toMatchObject({ type: 'set condition', condition: { type: 'Ready', status: 'True' } });
    const condition = action?.type === 'set condition' ? action.condition : undefined;
    expect(reconcile(range('a', '10.0.0.0/24', protectedMeta, { conditions: [condition] }), [], [])).toBeUndefined();
  });

  test('is deleted when it is unused, or another range contains its addresses', () => {
    const going = range('a', '10.0.0.0/24', deleted);
    expect(reconcile(going, [], ['10.1.0.1'])).toEqual({ type: 'remove finalizer' });
    expect(reconcile(going, [range('b', '10.0.0.0/16')], ['10.0.0.9'])).toEqual({ type: 'remove finalizer' });
    expect(reconcile(going, [range('b', '10.0.0.0/16', deleted)], ['10.0.0.9'])).toMatchObject({
      condition: { status: 'False' },
    });
    expect(reconcile(going, [], ['10.0.0.9'])).toMatchObject({ condition: { reason: 'Terminating' } });
  });

  test('is deleted only after a grace period for all servers', () => {
    const going = range('a', '10.0.0.0/24', deleted);
    expect(reconcile(going, [], [], LATER - 3000)).toEqual({ type: 'wait', ms: 3000 });
    expect(reconcile(going, [], [], LATER)).toEqual({ type: 'remove finalizer' });
  });
});
