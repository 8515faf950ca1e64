import { apps } from '#api';
import { deepEqual, selectorFromObject } from '#machinery';
import type { Controller } from '../runtime/controller.ts';
import { countReplicas, failureConditions, type ReplicaSetView } from '../runtime/replicas/reconcile.ts';
import { type ObservedReplicas, ReplicaController } from '../runtime/replicas/replica-controller.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';

export const replicaSetController: Controller = {
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  enabledByDefault: true,
  start: (context) =>
    new ReplicaController<apps.ReplicaSet>(context, {
      kind: apps.ReplicaSet,
      queue: 'replicaset',
      component: 'replicaset-controller',
      concurrency: context.options.concurrentReplicaSetSyncs,
      view: viewOf,
      selector: ({ spec }) => selectorFromObject(spec?.selector),
      template: ({ spec }) => spec?.template ?? {},
      withStatus,
    }),
};

function viewOf({ spec }: apps.ReplicaSet): ReplicaSetView {
  const { replicas = 1, minReadySeconds = 0, template } = spec ?? {};
  return { replicas, minReadySeconds, templateLabels: template?.metadata?.labels ?? {} };
}

function withStatus(set: apps.ReplicaSet, { active, terminating, failure, now }: ObservedReplicas): apps.ReplicaSet {
  const { replicas, ...counts } = countReplicas(viewOf(set), active, now);
  const conditions = [...failureConditions(set.status?.conditions, failure, now)];
  const { generation = 0 } = set.metadata;
  const status: apps.ReplicaSetStatus = {
    replicas,
    ...withoutZeros({ ...counts, conditions, observedGeneration: generation }),
    terminatingReplicas: terminating,
  };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
