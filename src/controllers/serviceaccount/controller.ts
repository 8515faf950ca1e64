import { core } from '#api';
import { isStatusReason, StatusError } from '#machinery';
import type { Controller } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { missingServiceAccounts } from './reconcile.ts';

/** Creates the default service account of each namespace. */
export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  enabledByDefault: true,
  start(context) {
    const { informers, client } = context;
    const namespaces = informers.of(core.Namespace);
    const accounts = informers.of(core.ServiceAccount);
    const controller = new KeyedController(context, {
      name: 'serviceaccount',
      objects: namespaces.lister,
      async sync(key) {
        const namespace = namespaces.lister.get({ name: key });
        if (namespace === undefined) return;
        const has = (name: string) => accounts.lister.get({ name, namespace: key }) !== undefined;
        await Promise.all(missingServiceAccounts(namespace, has).map((name) => create(name, key)));
      },
    });
    const create = async (name: string, namespace: string) => {
      try {
        await client.of(core.ServiceAccount).create({ metadata: { name, namespace } });
      } catch (error) {
        const isTerminating = error instanceof StatusError && error.hasCause('NamespaceTerminating');
        if (!isTerminating && !isStatusReason(error, 'AlreadyExists')) throw error;
      }
    };
    namespaces.addHandler({ add: (namespace) => controller.enqueue(namespace), update: (_, namespace) => controller.enqueue(namespace) });
    accounts.addHandler({ delete: ({ metadata }) => controller.queue.add(metadata.namespace ?? '') });
    return controller;
  },
};
