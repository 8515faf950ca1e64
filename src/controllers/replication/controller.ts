import { core } from '#api';
import { deepEqual, selectorFromObject } from '#machinery';
import type { Controller } from '../runtime/controller.ts';
import { countReplicas, failureConditions, type ReplicaSetView } from '../runtime/replicas/reconcile.ts';
import { type ObservedReplicas, ReplicaController } from '../runtime/replicas/replica-controller.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';

/** ReplicationControllers are ReplicaSets with a simpler selector. */
export const replicationControllerController: Controller = {
  name: 'replicationcontroller-controller',
  aliases: ['replicationcontroller'],
  enabledByDefault: true,
  start: (context) =>
    new ReplicaController<core.ReplicationController>(context, {
      kind: core.ReplicationController,
      queue: 'replicationmanager',
      component: 'replication-controller',
      concurrency: context.options.concurrentRcSyncs,
      view: viewOf,
      selector: ({ spec }) => selectorFromObject({ matchLabels: spec?.selector ?? {} }),
      template: ({ spec }) => spec?.template ?? {},
      withStatus,
    }),
};

function viewOf({ spec }: core.ReplicationController): ReplicaSetView {
  const { replicas = 1, minReadySeconds = 0, template } = spec ?? {};
  return { replicas, minReadySeconds, templateLabels: template?.metadata?.labels ?? {} };
}

function withStatus(set: core.ReplicationController, { active, failure, now }: ObservedReplicas): core.ReplicationController {
  const { replicas, ...counts } = countReplicas(viewOf(set), active, now);
  const conditions = [...failureConditions(set.status?.conditions, failure, now)];
  const { generation = 0 } = set.metadata;
  const status: core.ReplicationControllerStatus = { replicas, ...withoutZeros({ ...counts, conditions, observedGeneration: generation }) };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
