import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { formatTime } from '#machinery';
import type { PodReadings } from './group-pods.ts';
import { countByAverage, countByShare, countByUtilization, countByValue, type PodsView } from './replica-count.ts';

const NOW = Date.UTC(2026, 0, 1, 1);
const ago = (seconds: number) => formatTime(NOW - seconds * 1000);

interface PodOptions {
  readonly phase?: string;
  readonly ready?: 'True' | 'False';
  /** Seconds since it started, and since it became ready or unready. */
  readonly started?: number;
  readonly changed?: number;
  readonly deleted?: boolean;
}

function pod(name: string, { phase = 'Running', ready = 'True', started = 3600, changed = 3600, deleted }: PodOptions = {}): core.Pod {
  return {
    metadata: { name, ...(deleted && { deletionTimestamp: ago(1) }) },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status: { phase, startTime: ago(started), conditions: [{ type: 'Ready', status: ready, lastTransitionTime: ago(changed) }] },
  } as core.Pod;
}

function view(pods: readonly core.Pod[], changes: Partial<PodsView> = {}): PodsView {
  return {
    pods,
    specReplicas: pods.length,
    statusReplicas: pods.length,
    tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
    periods: { cpuInitializationMs: 120_000, initialReadinessDelayMs: 10_000 },
    now: NOW,
    ...changes,
  };
}

/** Readings of pods p0, p1…; undefined for one that was not measured. */
function readings(...values: readonly (number | undefined)[]): PodReadings {
  const present = values.flatMap((value, i) => (value === undefined ? [] : [{ name: `p${i}`, value }]));
  return new Map(present.map(({ name, value }) => [name, { value, timestamp: NOW, windowMs: 60_000 }]));
}

const CPU = { resource: 'cpu', container: '', utilization: 30 };

describe('the count by utilization', () => {
  it.each<[string, readonly PodOptions[], readonly (number | undefined)[], { specReplicas?: number }, number, number]>([
    ['grows with the load', [{}, {}, {}], [300, 500, 700], {}, 5, 50],
    ['shrinks with the load', [{}, {}, {}, {}, {}], [100, 300, 500, 250, 250], { specReplicas: 5 }, 5, 28],
    ['stays within the tolerance', [{}, {}, {}], [310, 320, 330], {}, 3, 32],
    ['takes pods that are not ready to use nothing', [{}, {}, { ready: 'False', started: 30, changed: 20 }], [900, 700, 100], {}, 6, 80],
    ['takes pending pods to use nothing', [{}, { phase: 'Pending' }, { phase: 'Pending' }], [900], {}, 3, 90],
    ['takes pods without a reading to use nothing when it grows', [{}, {}, {}], [900, 700, undefined], {}, 6, 80],
    ['takes pods without a reading to use all when it shrinks', [{}, {}, {}], [100, 100, undefined], {}, 3, 10],
    ['leaves out pods that go or failed', [{}, {}, { deleted: true }, { phase: 'Failed' }], [900, 900, 900, 900], {}, 6, 90],
  ])('%s', (_name, words, values, changes, replicas, utilization) => {
    const pods = words.map((word, i) => pod(`p${i}`, word));
    expect(countByUtilization(readings(...values), CPU, view(pods, changes))).toMatchObject({ replicas, utilization });
  });

  it('does not count what a pod used while it started', () => {
    const pods = [pod('p0'), pod('p1', { started: 60, changed: 30 })];
    expect(countByUtilization(readings(300, 3000), CPU, view(pods))).toMatchObject({ replicas: 2, utilization: 30 });
  });

  it('counts what a pod uses that became unready long after its start', () => {
    const pods = [pod('p0'), pod('p1', { ready: 'False', started: 3600, changed: 60 })];
    expect(countByUtilization(readings(600, 600), CPU, view(pods)).replicas).toBe(4);
  });

  it.each<[string, () => unknown, string]>([
    ['no pods', () => countByUtilization(readings(1), CPU, view([])), 'no pods returned by selector while calculating replica count'],
    [
      'only pods that do not run yet',
      () => countByUtilization(readings(1), CPU, view([pod('p0', { phase: 'Pending' })])),
      'did not receive metrics for targeted pods (pods might be unready)',
    ],
    [
      'no request',
      () => countByUtilization(readings(1), { ...CPU, resource: 'memory' }, view([pod('p0')])),
      'missing request for memory in container c of Pod p0',
    ],
    [
      'no such container',
      () => countByUtilization(readings(1), { ...CPU, container: 'x' }, view([pod('p0')])),
      'container x not found in Pod p0',
    ],
    [
      'readings of other pods alone',
      () => countByUtilization(new Map([['q', { value: 1, timestamp: NOW, windowMs: 0 }]]), CPU, view([pod('p0')])),
      'no metrics returned matched known pods',
    ],
  ])('is unknown with %s', (_name, count, message) => {
    expect(count).toThrow(message);
  });

  it('uses what the pod as a whole requests, unless a container is named', () => {
    const podLevel = { ...pod('p0'), spec: { containers: [{ name: 'c' }], resources: { requests: { cpu: '2' } } } } as core.Pod;
    expect(countByUtilization(readings(1200), CPU, view([podLevel]))).toMatchObject({ replicas: 2, utilization: 60 });
    expect(() => countByUtilization(readings(1200), { ...CPU, container: 'c' }, view([podLevel]))).toThrow('missing request for cpu');
  });
});

describe('the count by other measures', () => {
  const pods = [pod('p0'), pod('p1'), pod('p2')];

  it('follows the average of pods', () => {
    expect(countByAverage(readings(20_000, 10_000, 30_000), { resource: '', average: 15_000 }, view(pods))).toEqual({
      replicas: 4,
      usage: 20_000,
    });
  });

  it('follows one value by the pods that are ready', () => {
    const threePods = [pod('p0'), pod('p1'), pod('p2', { ready: 'False' })];
    expect(countByValue(20_000, 10_000, view(threePods))).toEqual({ replicas: 4, usage: 20_000 });
    expect(countByValue(10_500, 10_000, view(threePods)).replicas).toBe(3);
  });

  it('follows a value that pods share by what each gets of it', () => {
    expect(countByShare(8600, 2150, view(pods))).toEqual({ replicas: 4, usage: 2867 });
  });

  it('has a tolerance for each direction', () => {
    const tolerances = { scaleDown: 0.5, scaleUp: 0 };
    expect(countByValue(6000, 10_000, view(pods, { tolerances })).replicas).toBe(3);
    expect(countByValue(10_100, 10_000, view(pods, { tolerances })).replicas).toBe(4);
  });
});
