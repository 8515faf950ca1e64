import { core } from '#api';
import { parseKey } from '#client';
import type { Controller, ControllerContext } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { expansionOf, hasGrown, isBoundTo, RESIZER } from './reconcile.ts';

type Claim = core.PersistentVolumeClaim;

const CONCURRENCY = 10;

/** Marks claims that request more storage for their resizer. */
export const persistentVolumeExpanderController: Controller = {
  name: 'persistentvolume-expander-controller',
  aliases: ['persistentvolume-expander'],
  enabledByDefault: true,
  start: startExpander,
};

function startExpander(context: ControllerContext): KeyedController {
  const claims = context.informers.of(core.PersistentVolumeClaim);
  const volumes = context.informers.of(core.PersistentVolume);
  const sync = async (key: string): Promise<void> => {
    const claim = claims.lister.get(parseKey(key));
    if (claim?.status?.phase !== 'Bound') return;
    const volume = volumes.lister.get({ name: claim.spec?.volumeName ?? '' });
    if (volume === undefined || !isBoundTo(claim, volume)) throw new Error(`persistent Volume is not bound to PVC being updated : ${key}`);
    const expansion = expansionOf(claim, volume);
    if (expansion === undefined) return;
    context.recorder('volume_expand').normal(claim, 'ExternalExpanding', expansion.message);
    const { resizer } = expansion;
    if (resizer === undefined || claim.metadata.annotations?.[RESIZER] === resizer) return;
    await context.client.of(core.PersistentVolumeClaim).patch(claim.metadata, { metadata: { annotations: { [RESIZER]: resizer } } });
  };
  const controller = new KeyedController(context, {
    name: 'volume_expand',
    concurrency: CONCURRENCY,
    isExpected: isGone,
    objects: claims.lister,
    sync,
  });
  const consider = (claim: Claim) => {
    if (claim.status?.phase === 'Bound') controller.enqueue(claim);
  };
  claims.addHandler({ add: consider, update: (old, claim) => hasGrown(old, claim) && consider(claim) });
  return controller;
}
