import { describe, expect, it } from 'vitest';
import type { batch } from '#api';
import { timeToLive } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);

function job(ttl: number | undefined, type: string, changes: { status?: string; deleted?: boolean } = {}): batch.Job {
  const { status = 'True', deleted = false } = changes;
  return {
    metadata: { name: 'j', ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { template: {}, ...(ttl !== undefined && { ttlSecondsAfterFinished: ttl }) },
    status: { conditions: [{ type, status, lastTransitionTime: '2026-01-01T00:59:00Z' }] },
  };
}

describe('a finished job', () => {
  it.each<[string, batch.Job, number | undefined]>([
    ['stays for its time', job(100, 'Complete'), 40_000],
    ['stays when it failed, too', job(100, 'Failed'), 40_000],
    ['goes when its time is over', job(10, 'Complete'), -50_000],
    ['stays for ever without a time', job(undefined, 'Complete'), undefined],
    ['has no time before it has finished', job(100, 'Suspended'), undefined],
    ['has no time before that is true', job(100, 'Complete', { status: 'False' }), undefined],
    ['is left alone when it goes already', job(100, 'Complete', { deleted: true }), undefined],
  ])('%s', (_name, of, expected) => {
    expect(timeToLive(of, NOW)).toBe(expected);
  });
});
