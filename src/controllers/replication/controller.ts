import { core } from '#api';
import { selectorFromObject } from '#machinery';
import type { Controller } from '../runtime/controller.ts';
import { replicaSetView } from '../runtime/replicas/reconcile.ts';
import { ReplicaController } from '../runtime/replicas/replica-controller.ts';
import { withStatus } from './reconcile.ts';

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
      view: replicaSetView,
      selector: ({ spec }) => selectorFromObject({ matchLabels: spec?.selector ?? {} }),
      template: ({ spec }) => spec?.template ?? {},
      withStatus,
    }),
};
