import { describe, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { leaderDefaults, leaderElectionOf } from './leader-flags.ts';
import { rateLimitOf } from './run-component.ts';

const random = seededRandom('flags');
const defaults = leaderDefaults('kube-scheduler');

describe('the flags of leader election', () => {
  test('leave upstream’s defaults where they say nothing', () => {
    expect(leaderElectionOf({}, defaults, random)).toMatchObject({
      lease: { namespace: 'kube-system', name: 'kube-scheduler' },
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    });
  });

  test('win over a configuration', () => {
    const fromFile = { ...defaults, leaderElect: false, leaseDurationMs: 60_000, resourceName: 'mine' };
    expect(leaderElectionOf({}, fromFile, random)).toBeUndefined();
    expect(leaderElectionOf({ leaderElect: 'true', leaderElectRetryPeriod: '1s' }, fromFile, random)).toMatchObject({
      lease: { name: 'mine' },
      leaseDurationMs: 60_000,
      retryPeriodMs: 1_000,
    });
    expect(leaderElectionOf({ leaderElect: 'false' }, defaults, random)).toBeUndefined();
  });

  test('that cannot be read are named', () => {
    expect(() => leaderElectionOf({ leaderElect: 'perhaps' }, defaults, random)).toThrow(
      'invalid argument "perhaps" for "--leader-elect" flag: strconv.ParseBool: parsing "perhaps": invalid syntax',
    );
    expect(() => leaderElectionOf({ leaderElectLeaseDuration: 'x' }, defaults, random)).toThrow('"--leader-elect-lease-duration" flag: ');
  });
});

describe('the rate of requests', () => {
  test('is unlimited unless it is set, and has a burst', () => {
    expect(rateLimitOf({})).toBeUndefined();
    expect(rateLimitOf({ kubeApiBurst: '5' })).toBeUndefined();
    expect(rateLimitOf({ kubeApiQps: '50' })).toEqual({ perSecond: 50, burst: 100 });
    expect(rateLimitOf({ kubeApiQps: '0.5', kubeApiBurst: '3' })).toEqual({ perSecond: 0.5, burst: 3 });
  });

  test.each([
    [{ kubeApiQps: 'fast' }, 'invalid argument "fast" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "fast": invalid syntax'],
    [{ kubeApiQps: '0' }, 'a rate of requests must be above 0'],
  ])('%j is refused', (flags, message) => {
    expect(() => rateLimitOf(flags)).toThrow(message);
  });
});
