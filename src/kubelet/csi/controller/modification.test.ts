import { describe, expect, test } from 'vitest';
import type { core } from '#api';
import { nextModification } from './modification.ts';

interface Case {
  readonly desired?: string;
  readonly current?: string;
  readonly target?: string;
  readonly state?: string;
  readonly isUncertain?: boolean;
  readonly phase?: string;
}

const next = ({ desired, current, target, state, isUncertain = false, phase = 'Bound' }: Case) =>
  nextModification(
    {
      metadata: { name: 'c' },
      spec: { volumeAttributesClassName: desired },
      status: {
        phase,
        currentVolumeAttributesClassName: current,
        ...(state && { modifyVolumeStatus: { status: state, targetVolumeAttributesClassName: target } }),
      },
    } as core.PersistentVolumeClaim,
    isUncertain,
  );

describe('the next modification of a volume', () => {
  test.each<[string, Case, object]>([
    ['is none when it has its class', { desired: 'a', current: 'a' }, { type: 'none' }],
    ['is none while the claim is not bound', { desired: 'b', phase: 'Pending' }, { type: 'none' }],
    ['starts with another class', { desired: 'b', current: 'a' }, { type: 'start', target: 'b' }],
    [
      'repeats an attempt whose outcome is uncertain, whatever the claim names',
      { desired: 'c', current: 'a', target: 'b', state: 'InProgress', isUncertain: true },
      { type: 'continue', target: 'b' },
    ],
    [
      'goes over to the next class after a failure that is certain',
      { desired: 'c', current: 'a', target: 'b', state: 'InProgress' },
      { type: 'start', target: 'c' },
    ],
    [
      'goes back to the class that it has after an infeasible one',
      { desired: 'a', current: 'a', target: 'b', state: 'Infeasible' },
      { type: 'start', target: 'a' },
    ],
    ['is cancelled when an infeasible class is named no more', { target: 'b', state: 'Infeasible' }, { type: 'cancel' }],
    [
      'is finished first when a class that has begun is named no more',
      { target: 'b', state: 'InProgress' },
      { type: 'continue', target: 'b' },
    ],
  ])('%s', (_, input, expected) => {
    expect(next(input)).toEqual(expected);
  });
});
