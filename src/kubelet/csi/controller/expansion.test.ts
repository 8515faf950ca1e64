import { describe, expect, test } from 'vitest';
import type { core } from '#api';
import { nextExpansion } from './expansion.ts';

interface Case {
  readonly requested: string;
  readonly volume: string;
  readonly allocated?: string;
  readonly progress?: string;
  readonly hasFinalError?: boolean;
  readonly byController?: boolean;
  readonly condition?: string;
}

const next = ({ requested, volume, allocated, progress, hasFinalError = false, byController = true, condition }: Case) =>
  nextExpansion({
    claim: {
      metadata: { name: 'c' },
      spec: { resources: { requests: { storage: requested } } },
      status: {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        ...(allocated && { allocatedResources: { storage: allocated } }),
        ...(progress && { allocatedResourceStatuses: { storage: progress } }),
        ...(condition && { conditions: [{ type: condition, status: 'True' }] }),
      },
    } as core.PersistentVolumeClaim,
    volume: { metadata: { name: 'v' }, spec: { capacity: { storage: volume } } } as core.PersistentVolume,
    hasFinalError,
    byController,
  });

describe('the size that a driver is asked for', () => {
  test.each<[string, Case, string | undefined, boolean?]>([
    ['is what the claim requests', { requested: '2Gi', volume: '1Gi' }, '2Gi'],
    [
      'is the last one while its outcome is uncertain, though the claim requests less',
      { requested: '2Gi', volume: '1Gi', allocated: '9Gi', progress: 'ControllerResizeInProgress' },
      '9Gi',
      true,
    ],
    [
      'is what the claim requests after a failure that is certain',
      { requested: '2Gi', volume: '1Gi', allocated: '9Gi', progress: 'ControllerResizeInProgress', hasFinalError: true },
      '2Gi',
    ],
    [
      'is what the claim requests after the driver called the last one infeasible',
      { requested: '2Gi', volume: '1Gi', allocated: '9Gi', progress: 'ControllerResizeInfeasible' },
      '2Gi',
    ],
    [
      'is none while the node works on the last one',
      { requested: '9Gi', volume: '2Gi', allocated: '2Gi', progress: 'NodeResizePending' },
      undefined,
    ],
    [
      'is the last one when the node calls it infeasible',
      { requested: '9Gi', volume: '2Gi', allocated: '2Gi', progress: 'NodeResizeInfeasible' },
      '2Gi',
      true,
    ],
    [
      'is what the claim requests when the node calls it infeasible, and only nodes enlarge',
      { requested: '2Gi', volume: '4Gi', allocated: '4Gi', progress: 'NodeResizeInfeasible', byController: false },
      '2Gi',
    ],
    [
      'is the last one when the volume has it and the claim does not say so',
      { requested: '2Gi', volume: '3Gi', allocated: '3Gi', progress: 'ControllerResizeInProgress' },
      '3Gi',
      true,
    ],
    [
      'is none while the node works on what an older resizer left',
      { requested: '2Gi', volume: '2Gi', condition: 'FileSystemResizePending' },
      undefined,
    ],
    ['is what the claim requests when only the volume says so', { requested: '2Gi', volume: '2Gi' }, '2Gi'],
  ])('%s', (_, input, size, isRetry = false) => {
    expect(next(input)).toEqual(size === undefined ? undefined : { size, isRetry });
  });
});
