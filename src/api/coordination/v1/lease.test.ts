import { describe, expect, test } from 'vitest';
import { leaseBehaviour } from './lease.behaviour.ts';
import type { LeaseSpec } from './lease.ts';

const leases = leaseBehaviour as Required<typeof leaseBehaviour>;

describe('a lease', () => {
  test.each<[string, LeaseSpec, readonly string[]]>([
    ['of somebody', { holderIdentity: 'h', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
    ['of nobody', { holderIdentity: '' }, []],
    [
      'of no length',
      { leaseDurationSeconds: 0, leaseTransitions: -1 },
      [
        'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
        'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'preferred without a strategy',
      { preferredHolder: 'h' },
      ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
    ],
    [
      'with a bad strategy',
      { strategy: 'Odd Strategy' },
      ['spec.strategy.strategy: Unsupported value: "Odd Strategy": supported values: "OldestEmulationVersion"'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(leases.validate({ metadata: { name: 'a', namespace: 'ns' }, spec }).map(String)).toEqual(errors);
  });

  test('prints who holds it', () => {
    expect(leases.table.cells({ metadata: { name: 'a' }, spec: { holderIdentity: 'h' } }, 0)).toEqual(['a', 'h', '<unknown>']);
  });
});
