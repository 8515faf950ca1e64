import { describe, expect, it } from 'vitest';
import { batch } from '#api';
import { parseTime } from '#machinery';
import { type CronJob, dueTime, jobFor, observeJobs, outdatedJobs, waitForNext, withoutActiveJobs } from './reconcile.ts';

function cronJob(spec: Partial<batch.CronJobSpec> = {}, status: batch.CronJobStatus = {}): CronJob {
  const jobTemplate = { metadata: { labels: { of: 'cron' }, annotations: { note: 'x' } }, spec: { template: {} } };
  return {
    metadata: { name: 'cron', namespace: 'default', uid: 'cron', creationTimestamp: '2026-01-01T00:00:30Z' },
    spec: { schedule: '* * * * *', jobTemplate, ...spec },
    status,
  };
}

function job(name: string, finished?: 'Complete' | 'Failed', startTime = '2026-01-01T00:00:00Z'): batch.Job {
  const conditions = finished ? [{ type: finished, status: 'True' }] : [];
  const completionTime = finished === 'Complete' ? { completionTime: startTime } : {};
  return { metadata: { name, uid: name }, spec: { template: {} }, status: { startTime, conditions, ...completionTime } };
}

const at = (time: string) => parseTime(`2026-01-01T${time}Z`);
const reference = (name: string) => ({ kind: 'Job', name, uid: name, namespace: 'default' });

describe('the time of a cron job', () => {
  const schedule = batch.parseCronSchedule('* * * * *');

  it.each<[string, CronJob, string, { due?: string; next: string; many?: boolean }]>([
    ['has not come', cronJob(), '00:00:59', { next: '00:01:00' }],
    ['has come', cronJob(), '00:01:05', { due: '00:01:00', next: '00:02:00' }],
    ['was used already', cronJob({}, { lastScheduleTime: '2026-01-01T00:01:00Z' }), '00:01:30', { next: '00:02:00' }],
    ['is the last of several that were missed', cronJob(), '00:05:30', { due: '00:05:00', next: '00:06:00' }],
    ['is too long ago', cronJob({ startingDeadlineSeconds: 10 }), '00:01:30', { next: '00:02:00' }],
    ['was missed too often to be true', cronJob(), '03:00:30', { due: '03:00:00', next: '03:01:00', many: true }],
  ])('%s', (_name, of, now, { due, next, many = false }) => {
    expect(dueTime(of, schedule, at(now))).toEqual({ due: due && at(due), hasMissedMany: many, next: at(next) });
  });
});

describe('a cron job', () => {
  it('names jobs after their scheduled time', () => {
    const createdJob = jobFor(cronJob(), at('00:07:00'));
    expect(createdJob.metadata).toMatchObject({ name: `cron-${at('00:07:00') / 60_000}`, namespace: 'default', labels: { of: 'cron' } });
    expect(createdJob.metadata.annotations).toEqual({
      note: 'x',
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:07:00Z',
    });
    expect(createdJob.metadata.ownerReferences).toMatchObject([
      { kind: 'CronJob', name: 'cron', controller: true, blockOwnerDeletion: true },
    ]);
  });

  it('tracks its active jobs, and records events when they finish', () => {
    const current = cronJob({}, { active: ['runs', 'done', 'gone'].map(reference) });
    const { status, notes } = observeJobs(current, [job('runs'), job('done', 'Complete', '2026-01-01T00:03:00Z'), job('stray')]);
    expect(status.active?.map(({ name }) => name)).toEqual(['runs']);
    expect(status.lastSuccessfulTime).toBe('2026-01-01T00:03:00Z');
    expect(notes.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
      'Normal SawCompletedJob: Saw completed job: done, condition: Complete',
      'Normal MissingJob: Active job went missing: gone',
      'Warning UnexpectedJob: Saw a job that the controller did not create or forgot: stray',
    ]);
  });

  it('does not report MissingJob for jobs that are observed late or were removed by itself', () => {
    const current = cronJob({}, { active: ['late', 'removed'].map(reference) });
    const { status, notes } = observeJobs(
      withoutActiveJobs(current, new Set(['removed'])),
      [job('removed', 'Complete')],
      new Set(['late']),
    );
    expect(status.active?.map(({ name }) => name)).toEqual(['late']);
    expect(status.lastSuccessfulTime).toBe('2026-01-01T00:00:00Z');
    expect(notes).toEqual([]);
  });

  it('waits for the next time of a schedule, however many it missed', () => {
    expect(waitForNext(cronJob({ schedule: '0 * * * *', startingDeadlineSeconds: 5 }), at('03:10:00'))).toBe(50 * 60_000);
    expect(waitForNext(cronJob({ schedule: 'odd' }), at('03:10:00'))).toBeUndefined();
  });

  it('keeps the youngest finished jobs up to its history limits', () => {
    const times = ['00:01:00', '00:02:00', '00:03:00'].map((time) => `2026-01-01T${time}Z`);
    const jobs = [
      ...times.map((time, i) => job(`s${i}`, 'Complete', time)),
      ...times.map((time, i) => job(`f${i}`, 'Failed', time)),
      job('runs'),
    ];
    const names = (spec: Partial<batch.CronJobSpec>) => outdatedJobs(cronJob(spec), jobs).map(({ metadata }) => metadata.name);
    expect(names({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 })).toEqual(['s0', 'f0', 'f1']);
    expect(names({ successfulJobsHistoryLimit: 0 })).toEqual(['s0', 's1', 's2']);
    expect(names({})).toEqual([]);
  });
});
