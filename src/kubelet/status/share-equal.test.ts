import { describe, expect, it } from 'vitest';
import { shareEqual } from './share-equal.ts';

describe('shareEqual', () => {
  it('answers with the other value where both are equal', () => {
    const stored = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    expect(shareEqual({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, stored)).toBe(stored);
  });

  it('takes equal parts from the other value and keeps those that differ or are missing there', () => {
    const stored = { qosClass: 'Burstable', conditions: [{ type: 'Ready' }, { type: 'Initialized' }], podIPs: [{ ip: '10.0.0.1' }] };
    const reported = { conditions: [{ type: 'Ready' }, { type: 'Other' }], podIPs: [{ ip: '10.0.0.1' }], hostIP: '192.0.2.1' };
    const shared = shareEqual(reported, stored);
    expect(shared).toEqual(reported);
    expect(shared.podIPs).toBe(stored.podIPs);
    expect(shared.conditions[0]).toBe(stored.conditions[0]);
  });

  it('leaves a value alone that has nothing in common with the other', () => {
    const value = { a: [1] };
    expect(shareEqual(value, undefined)).toBe(value);
    expect(shareEqual(value, { b: 1 })).toEqual(value);
  });
});
