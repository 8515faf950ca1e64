import { core } from '#api';
import { repeat } from '#base';
import { isStatusReason } from '#machinery';
import type { Controller, ControllerContext } from '../../runtime/controller.ts';
import { isGone } from '../../runtime/keyed-controller.ts';
import { INVALID_SINCE_LABEL, type TokenAction, unusedTokenActions } from './reconcile.ts';

const INTERVAL_MS = 24 * 3_600_000;
const TRACKING = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };

/** Invalidates, then deletes legacy token secrets that were unused for a year (`--legacy-service-account-token-clean-up-period`). */
export const legacyTokenCleanerController: Controller = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  aliases: ['legacy-service-account-token-cleaner'],
  enabledByDefault: true,
  start(context) {
    const { informers, clock, signal, logger } = context;
    for (const kind of [core.Secret, core.ServiceAccount, core.Pod]) informers.of(kind as typeof core.Secret);
    const onError = (error: unknown) => logger.error('cannot clean up unused tokens', { error });
    return { run: () => repeat({ clock, signal, intervalMs: INTERVAL_MS, onError }, () => clean(context)) };
  },
};

async function clean(context: ControllerContext): Promise<void> {
  const { informers, client, clock, options } = context;
  const tracking = await client.of(core.ConfigMap).get(TRACKING);
  const accounts = informers.of(core.ServiceAccount).lister;
  const pods = informers.of(core.Pod).lister;
  const actions = unusedTokenActions({
    secrets: informers.of(core.Secret).lister.list(),
    account: (key) => accounts.get(key),
    mountedSecrets: (namespace) => new Set(pods.list(namespace).flatMap(core.podSecretNames)),
    trackedSince: tracking.data?.since ?? '',
    cleanUpPeriodMs: options.legacyServiceAccountTokenCleanUpPeriodMs,
    now: clock.now(),
  });
  for (const action of actions) await perform(action, context);
}

/** A failure does not block the other tokens. */
async function perform(action: TokenAction, { client, logger }: ControllerContext): Promise<void> {
  const { name, namespace, uid, resourceVersion = '' } = action.secret.metadata;
  const secrets = client.of(core.Secret);
  try {
    if (action.type === 'mark') {
      await secrets.patch({ name, namespace }, { metadata: { uid, labels: { [INVALID_SINCE_LABEL]: action.day } } }, { type: 'merge' });
    } else {
      await secrets.delete({ name, namespace }, { preconditions: { resourceVersion } });
    }
  } catch (error) {
    if (!isGone(error) && !isStatusReason(error, 'Conflict'))
      logger.error('cannot clean up a token', { secret: `${namespace}/${name}`, error });
  }
}
