import { apps } from '#api';
import { selectorFromObject } from '#machinery';
import type { Controller } from '../runtime/controller.ts';
import { replicaSetView } from '../runtime/replicas/reconcile.ts';
import { ReplicaController } from '../runtime/replicas/replica-controller.ts';
import { withStatus } from './reconcile.ts';

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
      view: replicaSetView,
      selector: ({ spec }) => selectorFromObject(spec?.selector),
      template: ({ spec }) => spec?.template ?? {},
      withStatus,
    }),
};
