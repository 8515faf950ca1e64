import { core } from '#api';
import { isStatusReason, StatusError } from '#machinery';
import type { Controller, ControllerContext } from '../../runtime/controller.ts';
import { KeyedController } from '../../runtime/keyed-controller.ts';
import { ROOT_CA_CONFIG_MAP, reconcileRootCa } from './reconcile.ts';

/** Publishes the certificate authority of the API server into each namespace, so that pods can trust it. */
export const rootCaPublisherController: Controller = {
  name: 'root-ca-certificate-publisher-controller',
  aliases: ['root-ca-cert-publisher'],
  enabledByDefault: true,
  start(context) {
    const { rootCa } = context.options;
    return rootCa === undefined ? undefined : startPublisher(context, rootCa);
  },
};

function startPublisher(context: ControllerContext, rootCa: string): KeyedController {
  const { informers, client, metrics, clock } = context;
  const namespaces = informers.of(core.Namespace);
  const maps = informers.of(core.ConfigMap);
  const syncs = metrics.counter({
    name: 'root_ca_cert_publisher_sync_total',
    help: 'Number of namespace syncs happened in root ca cert publisher.',
    labels: ['code'],
  });
  const durations = metrics.histogram({
    name: 'root_ca_cert_publisher_sync_duration_seconds',
    help: 'Number of namespace syncs happened in root ca cert publisher.',
    labels: ['code'],
  });
  const publish = async (namespace: string) => {
    const action = reconcileRootCa(namespace, maps.lister.get({ name: ROOT_CA_CONFIG_MAP, namespace }), rootCa);
    if (action.type === 'none') return;
    if (action.type === 'update') await client.of(core.ConfigMap).update(action.map);
    else await client.of(core.ConfigMap).create(action.map);
  };
  const controller = new KeyedController(context, {
    name: 'root_ca_cert_publisher',
    async sync(key) {
      const started = clock.monotonic();
      let code = '200';
      try {
        await publish(key);
      } catch (error) {
        code = String(error instanceof StatusError ? error.code : 500);
        if (!isDeletedOrTerminating(error)) throw error;
      } finally {
        syncs.with({ code }).inc();
        durations.with({ code }).observe((clock.monotonic() - started) / 1000);
      }
    },
  });
  const enqueue = (namespace: core.Namespace) => {
    if (namespace.status?.phase === 'Active') controller.enqueue(namespace);
  };
  const restore = ({ metadata }: core.ConfigMap) => {
    if (metadata.name === ROOT_CA_CONFIG_MAP) controller.queue.add(metadata.namespace ?? '');
  };
  namespaces.addHandler({ add: enqueue, update: (_, namespace) => enqueue(namespace) });
  maps.addHandler({ update: (_, map) => restore(map), delete: restore });
  return controller;
}

function isDeletedOrTerminating(error: unknown): boolean {
  if (isStatusReason(error, 'NotFound')) return true;
  return error instanceof StatusError && error.hasCause('NamespaceTerminating');
}
