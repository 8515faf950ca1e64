import { expect, it } from 'vitest';
import type { core } from '#api';
import { withStatus } from './reconcile.ts';

it('the status of a ReplicationController has no count of terminating pods', () => {
  const set: core.ReplicationController = { metadata: { name: 'r', generation: 1 }, spec: { replicas: 0 } } as never;
  const counts = { replicas: 0, fullyLabeledReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  const { status } = withStatus(set, { counts, terminating: 2, failure: undefined, now: 0 });
  expect(status).toEqual({ replicas: 0, observedGeneration: 1 });
});
