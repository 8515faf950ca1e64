import { core } from '#api';
import { parseKey } from '#client';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { signedClusterInfo } from './reconcile.ts';

/** The kubeconfig that joining nodes read before they have credentials. */
const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' };

/** Signs the ConfigMap cluster-info with the bootstrap tokens. Off by default as upstream: kubeadm turns it on. */
export const bootstrapSignerController: Controller = {
  name: 'bootstrap-signer-controller',
  aliases: ['bootstrapsigner'],
  enabledByDefault: false,
  start: startSigner,
};

/** Deletes bootstrap tokens that have expired. Off by default as upstream: kubeadm turns it on. */
export const tokenCleanerController: Controller = {
  name: 'token-cleaner-controller',
  aliases: ['tokencleaner'],
  enabledByDefault: false,
  start: startCleaner,
};

function startSigner(context: ControllerContext): KeyedController {
  const { informers, client, clock } = context;
  const secrets = informers.of(core.Secret, { namespace: core.BOOTSTRAP_TOKEN_NAMESPACE });
  const maps = informers.of(core.ConfigMap, { namespace: CLUSTER_INFO.namespace });
  const sync = async (key: string): Promise<void> => {
    const map = maps.lister.get(parseKey(key));
    if (map === undefined) return;
    const tokens = secrets.lister.list().flatMap((secret) => core.readBootstrapToken(secret) ?? []);
    const signed = signedClusterInfo(map, tokens, clock.now());
    if (signed !== map) await client.of(core.ConfigMap).update(signed);
  };
  const controller = new KeyedController(context, { name: 'bootstrap_signer_queue', isExpected: isGone, objects: maps.lister, sync });
  const enqueueClusterInfo = () => controller.enqueue({ metadata: CLUSTER_INFO });
  const changed = (map: core.ConfigMap) => {
    if (map.metadata.name === CLUSTER_INFO.name) enqueueClusterInfo();
  };
  maps.addHandler({ add: changed, update: (_, map) => changed(map) });
  const tokenChanged = (secret: core.Secret) => {
    if (core.readBootstrapToken(secret) !== undefined) enqueueClusterInfo();
  };
  secrets.addHandler({
    add: tokenChanged,
    update: (before, secret) => {
      tokenChanged(before);
      tokenChanged(secret);
    },
    delete: enqueueClusterInfo,
  });
  return controller;
}

function startCleaner(context: ControllerContext): KeyedController {
  const { informers, client, clock } = context;
  const secrets = informers.of(core.Secret, { namespace: core.BOOTSTRAP_TOKEN_NAMESPACE });
  const sync = async (key: string): Promise<void> => {
    const secret = secrets.lister.get(parseKey(key));
    const { expiresAt } = (secret && core.readBootstrapToken(secret)) ?? {};
    if (secret === undefined || expiresAt === undefined) return;
    const left = expiresAt - clock.now();
    if (left > 0) return controller.enqueueAfter(secret, left);
    const { uid = '' } = secret.metadata;
    await client.of(core.Secret).delete(secret.metadata, { preconditions: { uid } });
  };
  const controller = new KeyedController(context, { name: 'token_cleaner', isExpected: isGone, objects: secrets.lister, sync });
  secrets.addHandler({ add: (secret) => controller.enqueue(secret), update: (_, secret) => controller.enqueue(secret) });
  return controller;
}
