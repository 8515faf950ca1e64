import { describe, expect, it } from 'vitest';
import { missingServiceAccounts } from './reconcile.ts';

const namespace = (phase: string) => ({ metadata: { name: 'n' }, status: { phase } });

describe('a namespace', () => {
  it.each([
    { phase: 'Active', has: [], missing: ['default'] },
    { phase: 'Active', has: ['default'], missing: [] },
    { phase: 'Terminating', has: [], missing: [] },
  ])('that is $phase and has $has misses $missing', ({ phase, has, missing }) => {
    expect(missingServiceAccounts(namespace(phase), (name) => (has as string[]).includes(name))).toEqual(missing);
  });
});
