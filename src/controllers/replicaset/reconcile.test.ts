import { expect, it } from 'vitest';
import type { apps, core } from '#api';
import { countReplicas, replicaSetView } from '../runtime/replicas/reconcile.ts';
import { withStatus } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const SET: apps.ReplicaSet = {
  metadata: { name: 's', generation: 3 },
  spec: { replicas: 2, selector: {}, template: { metadata: { labels: { app: 'web' } } } },
} as never;
const countsOf = (pods: readonly core.Pod[]) => countReplicas(replicaSetView(SET), pods, NOW);
const pod = (labels: Record<string, string>, ready: 'True' | 'False'): core.Pod =>
  ({ metadata: { name: 'p', labels }, status: { conditions: [{ type: 'Ready', status: ready }] } }) as core.Pod;

it('the status of a ReplicaSet counts its pods, terminating ones apart', () => {
  const active = [pod({ app: 'web' }, 'True'), pod({ app: 'old' }, 'False')];
  const { status } = withStatus(SET, { counts: countsOf(active), terminating: 1, failure: undefined, now: NOW });
  expect(status).toEqual({
    ...{ replicas: 2, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    ...{ observedGeneration: 3, terminatingReplicas: 1 },
  });
});

it('the status of a ReplicaSet has the first failure until a sync succeeds', () => {
  const failure = { surplus: -2, message: 'quota exceeded' };
  const failed = withStatus(SET, { counts: countsOf([]), terminating: 0, failure, now: NOW });
  expect(failed.status?.conditions).toMatchObject([{ type: 'ReplicaFailure', reason: 'FailedCreate', message: 'quota exceeded' }]);
  const succeeded = withStatus(failed, { counts: countsOf([]), terminating: 0, failure: undefined, now: NOW });
  expect(succeeded.status?.conditions).toBeUndefined();
});

it('an unchanged status of a ReplicaSet leaves the object as it is', () => {
  const observed = { counts: countsOf([]), terminating: 0, failure: undefined, now: NOW };
  const once = withStatus(SET, observed);
  expect(withStatus(once, observed)).toBe(once);
});
