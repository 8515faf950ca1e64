import { core } from '#api';
import { parseKey } from '#client';
import type { Controller, ControllerContext } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { protectionStep } from '../../runtime/protection.ts';
import { reconcileVolume, VOLUME_FINALIZER } from './reconcile.ts';

type Volume = core.PersistentVolume;

/** Keeps deleted volumes until no claim is bound to them. */
export const pvProtectionController: Controller = {
  name: 'persistentvolume-protection-controller',
  aliases: ['pv-protection'],
  enabledByDefault: true,
  start: startPvProtection,
};

function startPvProtection(context: ControllerContext): KeyedController {
  const volumes = context.informers.of(core.PersistentVolume);
  const sync = async (key: string): Promise<void> => {
    const volume = volumes.lister.get(parseKey(key));
    const desired = volume && reconcileVolume(volume);
    if (desired !== undefined) await context.client.of(core.PersistentVolume).update(desired);
  };
  const controller = new KeyedController(context, { name: 'pvprotection', isExpected: isGone, objects: volumes.lister, sync });
  const consider = (volume: Volume) => {
    if (protectionStep(volume, VOLUME_FINALIZER) !== undefined) controller.enqueue(volume);
  };
  volumes.addHandler({ add: consider, update: (_, volume) => consider(volume) });
  return controller;
}
