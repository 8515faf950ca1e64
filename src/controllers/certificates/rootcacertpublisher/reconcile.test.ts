import { describe, expect, it } from 'vitest';
import { reconcileRootCa } from './reconcile.ts';

describe('the config map with the root certificate', () => {
  const created = reconcileRootCa('ns', undefined, 'CA');

  it('is made where there is none', () => {
    expect(created).toMatchObject({
      type: 'create',
      map: { metadata: { name: 'kube-root-ca.crt', namespace: 'ns' }, data: { 'ca.crt': 'CA' } },
    });
  });

  it('is left alone when it is right', () => {
    expect(created.type === 'create' && reconcileRootCa('ns', created.map, 'CA')).toEqual({ type: 'none' });
  });

  it.each([
    ['another certificate', { data: { 'ca.crt': 'other' } }],
    ['more than the certificate', { data: { 'ca.crt': 'CA', more: 'x' } }],
    ['no description', { data: { 'ca.crt': 'CA' }, metadata: { name: 'kube-root-ca.crt', namespace: 'ns' } }],
  ])('is put right when it has %s, and keeps what is not ours', (_, change) => {
    if (created.type !== 'create') throw new Error('not created');
    const current = { ...created.map, ...change, immutable: false };
    const action = reconcileRootCa('ns', current, 'CA');
    expect(action).toMatchObject({ type: 'update', map: { data: { 'ca.crt': 'CA' }, immutable: false } });
    expect(action.type === 'update' && reconcileRootCa('ns', action.map, 'CA')).toEqual({ type: 'none' });
  });
});
