import { describe, expect, it } from 'vitest';
import { quota } from '#api';
import { reconcileQuota } from './reconcile.ts';

const usage = (list: Record<string, string>) => quota.amountsOf(list);
const of = (hard: Record<string, string>, status?: object) => ({ metadata: { name: 'q' }, spec: { hard }, ...(status && { status }) });

describe('the status of a quota', () => {
  it('has hard limits and usage', () => {
    expect(reconcileQuota(of({ pods: '2' }), usage({ pods: '1' }))).toEqual({ hard: { pods: '2' }, used: { pods: '1' } });
  });

  it('is not written when its quantities are equal in another notation', () => {
    const status = { hard: { cpu: '1000m' }, used: { cpu: '0.5' } };
    expect(reconcileQuota(of({ cpu: '1' }, status), usage({ cpu: '500m' }))).toBeUndefined();
  });

  it('keeps usage that cannot be counted here, and drops resources without a limit', () => {
    const status = { hard: { pods: '2', 'example.com/x': '3', secrets: '1' }, used: { pods: '1', 'example.com/x': '2', secrets: '1' } };
    expect(reconcileQuota(of({ pods: '2', 'example.com/x': '3' }, status), usage({ pods: '1' }))).toEqual({
      hard: { pods: '2', 'example.com/x': '3' },
      used: { pods: '1', 'example.com/x': '2' },
    });
  });
});
