import { describe, expect, it } from 'vitest';
import type { batch, core } from '#api';
import { formatTime } from '#machinery';
import { recordFailures, remainingBackoff } from './backoff.ts';
import { assessJob, isComplete, type ObservedJob, planPods } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);

interface PodDraft {
  readonly phase?: string;
  readonly index?: number;
  readonly isGoing?: boolean;
  readonly isTracked?: boolean;
  readonly endedSecondsAgo?: number;
}

let podCount = 0;
function pod({ phase = 'Running', index, isGoing = false, isTracked = true, endedSecondsAgo = 1000 }: PodDraft = {}): core.Pod {
  const name = `p${podCount++}`;
  const finishedAt = formatTime(NOW - endedSecondsAgo * 1000);
  const isEnded = phase === 'Failed' || phase === 'Succeeded';
  const state = { terminated: { exitCode: phase === 'Failed' ? 1 : 0, finishedAt } };
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(isTracked && { finalizers: ['batch.kubernetes.io/job-tracking'] }),
      ...(index !== undefined && { annotations: { 'batch.kubernetes.io/job-completion-index': String(index) } }),
      ...(isGoing && { deletionTimestamp: '2026-01-01T00:59:00Z' }),
    },
    spec: { containers: [] },
    status: { phase, ...(isEnded && { containerStatuses: [{ name: 'c', ready: false, restartCount: 0, image: '', imageID: '', state }] }) },
  };
}

function observe(spec: Partial<batch.JobSpec>, pods: readonly core.Pod[], status: batch.JobStatus = {}): ObservedJob {
  const template = { spec: { containers: [], restartPolicy: 'Never' } };
  const job = { metadata: { name: 'j', uid: 'j' }, spec: { parallelism: 2, completions: 5, backoffLimit: 6, template, ...spec }, status };
  return { job, pods, released: new Set(), failures: undefined, now: NOW };
}

function plan(observed: ObservedJob) {
  const { create, remove, waitMs } = planPods(observed, assessJob(observed));
  return { create: create.map((index) => index ?? 'any'), remove: remove.map(({ metadata }) => metadata.name), waitMs };
}

const INDEXED = { completionMode: 'Indexed' };

describe('the pods of a job', () => {
  it.each<[string, Partial<batch.JobSpec>, PodDraft[], batch.JobStatus, (number | 'any')[]]>([
    ['as many as may run at once', {}, [], {}, ['any', 'any']],
    ['those that are missing', {}, [{}], {}, ['any']],
    ['no more than are still to succeed', {}, [], { succeeded: 4 }, ['any']],
    ['none for what has succeeded already', {}, [], { succeeded: 5 }, []],
    ['none beside one that has not been counted yet', {}, [{ phase: 'Succeeded' }], { succeeded: 4 }, []],
    ['one in the place of one that goes', {}, [{}, { isGoing: true }], {}, ['any']],
    ['none in its place before it has ended, by wish', { podReplacementPolicy: 'Failed' }, [{}, { isGoing: true }], {}, []],
    ['none while suspended', { suspend: true }, [], {}, []],
    ['one for each index', INDEXED, [], {}, [0, 1]],
    ['one for each index that is not worked on', INDEXED, [{ index: 0 }], {}, [1]],
    ['one for each index that has not succeeded', INDEXED, [{ index: 1 }], { completedIndexes: '0,2' }, [3]],
    ['none for an index that has just succeeded', INDEXED, [{ index: 0, phase: 'Succeeded' }], {}, [1, 2]],
    ['one for an index that failed', INDEXED, [{ index: 0, phase: 'Failed' }], {}, [0, 1]],
    ['as many as run when no number is asked for and one succeeded', { completions: undefined as never }, [{}], { succeeded: 1 }, []],
  ])('are made: %s', (_name, spec, pods, status, expected) => {
    expect(plan(observe(spec, pods.map(pod), status)).create).toEqual(expected);
  });

  it('are deleted when the job is suspended, or wants fewer, or has one twice', () => {
    const two = [pod(), pod()];
    expect(plan(observe({ suspend: true }, two)).remove).toEqual(two.map(({ metadata }) => metadata.name));
    expect(plan(observe({ parallelism: 1 }, two)).remove).toHaveLength(1);
    const twins = [pod({ index: 3 }), pod({ index: 3 })];
    expect(plan(observe({ ...INDEXED, parallelism: 4 }, twins)).remove).toHaveLength(1);
    const beyond = pod({ index: 9 });
    expect(plan(observe(INDEXED, [beyond])).remove).toEqual([beyond.metadata.name]);
  });

  it('wait after a failure, longer after each', () => {
    expect(plan(observe({}, [pod({ phase: 'Failed', endedSecondsAgo: 4 })]))).toEqual({ create: [], remove: [], waitMs: 6000 });
    expect(plan(observe({}, [pod({ phase: 'Failed', endedSecondsAgo: 11 })])).create).toHaveLength(2);
    const failed = [1, 2, 3].map((endedSecondsAgo) => pod({ phase: 'Failed', endedSecondsAgo }));
    expect(remainingBackoff(recordFailures(undefined, [], failed), NOW)).toBe(39_000);
    expect(remainingBackoff({ failures: 20, lastFailure: NOW }, NOW)).toBe(600_000);
  });

  it('wait no longer when one has succeeded since', () => {
    const record = recordFailures({ failures: 4, lastFailure: NOW }, [pod({ phase: 'Succeeded', endedSecondsAgo: 0 })], []);
    expect(remainingBackoff(record, NOW)).toBe(0);
  });
});

describe('examine', () => {
  it('counts each pod once', () => {
    const pods = [pod({ phase: 'Succeeded' }), pod({ phase: 'Succeeded' }), pod({ phase: 'Succeeded', isTracked: false })];
    const uncountedTerminatedPods = { succeeded: [pods[0]!.metadata.uid ?? ''] };
    expect(assessJob(observe({}, pods, { succeeded: 1, uncountedTerminatedPods })).succeeded).toBe(3);
    const released = new Set([pods[1]!.metadata.uid ?? '']);
    expect(assessJob({ ...observe({}, pods, { succeeded: 1 }), released }).succeeded).toBe(2);
  });

  it.each<[string, Partial<batch.JobSpec>, batch.JobStatus, PodDraft[], string | undefined]>([
    ['goes on', {}, {}, [{ phase: 'Failed' }], undefined],
    ['ends after too many failures', { backoffLimit: 0 }, {}, [{ phase: 'Failed' }], 'FailureTarget BackoffLimitExceeded'],
    [
      'ends after too many failures in all',
      { backoffLimit: 2 },
      { failed: 2 },
      [{ phase: 'Failed' }],
      'FailureTarget BackoffLimitExceeded',
    ],
    [
      'ends when its time is over',
      { activeDeadlineSeconds: 60 },
      { startTime: '2026-01-01T00:58:00Z' },
      [],
      'FailureTarget DeadlineExceeded',
    ],
    ['has no time while suspended', { activeDeadlineSeconds: 60, suspend: true }, { startTime: '2026-01-01T00:58:00Z' }, [], undefined],
    [
      'ends when its policy is met',
      { ...INDEXED, successPolicy: { rules: [{ succeededIndexes: '1' }] } },
      {},
      [{ phase: 'Succeeded', index: 1 }],
      'SuccessCriteriaMet SuccessPolicy',
    ],
    ['ends as it was about to', {}, { conditions: [{ type: 'FailureTarget', status: 'True', reason: 'X' }] }, [], 'Failed X'],
  ])('%s', (_name, spec, status, pods, expected) => {
    const { outcome } = assessJob(observe(spec, pods.map(pod), status));
    expect(outcome && `${outcome.type} ${outcome.reason}`).toBe(expected);
  });

  it.each([
    { completions: 3, succeeded: 3, active: 0, expected: true },
    { completions: 3, succeeded: 3, active: 1, expected: false },
    { completions: 3, succeeded: 2, active: 0, expected: false },
    { completions: undefined, succeeded: 1, active: 0, expected: true },
    { completions: undefined, succeeded: 1, active: 1, expected: false },
  ])('with $succeeded of $completions and $active active is complete: $expected', ({ completions, succeeded, active, expected }) => {
    const { job } = observe({ completions: completions as never }, []);
    expect(isComplete(job, succeeded, active)).toBe(expected);
  });
});

it('an indexed job of two billion completions is planned from the first index that is not done', () => {
  const spec = { ...INDEXED, completions: 2147483647, parallelism: 3 };
  const status = { completedIndexes: '0-2147483640' };
  expect(plan(observe(spec, [pod({ index: 2147483641 })], status)).create).toEqual([2147483642, 2147483643]);
});
