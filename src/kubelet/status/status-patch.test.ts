import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { statusPatch } from './status-patch.ts';

const ready = (status: string): core.PodCondition => ({ type: 'Ready', status, lastTransitionTime: 't' });

describe('the patch from one status to another', () => {
  const cases: readonly [string, core.PodStatus, core.PodStatus, object | undefined][] = [
    ['is none when nothing differs', { phase: 'Running' }, { phase: 'Running' }, undefined],
    ['has only what differs', { phase: 'Pending', hostIP: 'h' }, { phase: 'Running', hostIP: 'h' }, { phase: 'Running' }],
    ['removes what is no more', { phase: 'Failed', reason: 'r' }, { phase: 'Failed' }, { reason: null }],
    ['leaves fields of others alone', { qosClass: 'BestEffort', nominatedNodeName: 'n' }, {}, undefined],
    [
      'leaves conditions of others alone',
      { conditions: [ready('True'), { type: 'x', status: 'True' }] },
      { conditions: [ready('True')] },
      undefined,
    ],
    [
      'names a condition that differs, with its difference',
      { conditions: [{ ...ready('False'), reason: 'r' }] },
      { conditions: [ready('True')] },
      { conditions: [{ type: 'Ready', status: 'True', reason: null }] },
    ],
    ['adds a first address', {}, { podIP: 'a', podIPs: [{ ip: 'a' }] }, { podIP: 'a', podIPs: [{ ip: 'a' }] }],
    [
      'replaces an address instead of adding one',
      { podIP: 'a', podIPs: [{ ip: 'a' }] },
      { podIP: 'b', podIPs: [{ ip: 'b' }] },
      { podIP: 'b', podIPs: [{ ip: 'b' }, { $patch: 'replace' }] },
    ],
    [
      'takes absent, null and empty members for the same',
      { containerStatuses: [{ name: 'c', lastState: {}, state: { terminated: { exitCode: 0, startedAt: null } } }] as never },
      { containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 0 } }, resources: {} }] as never },
      undefined,
    ],
    [
      'sends containers whole when one of them differs',
      { containerStatuses: [{ name: 'c', ready: false }] as never },
      { containerStatuses: [{ name: 'c', ready: true }] as never },
      { containerStatuses: [{ name: 'c', ready: true }] },
    ],
  ];
  it.each(cases)('%s', (_name, before, after, expected) => {
    expect(statusPatch(before, after)).toEqual(expected);
  });
});
