import { core, storage } from '#api';
import { type Identified, parseKey, type SharedInformer } from '#client';
import type { Controller, ControllerContext } from '../../runtime/controller.ts';
import { isGone, KeyedController } from '../../runtime/keyed-controller.ts';
import { protectionStep } from '../../runtime/protection.ts';
import { CLASS_FINALIZER, classesOfClaim, classesOfVolume, reconcileClass } from './reconcile.ts';

type Class = storage.VolumeAttributesClass;

const CLASS_INDEX = 'volumeAttributesClass';

/** Keeps deleted VolumeAttributesClasses until no volume or claim names them. */
export const vacProtectionController: Controller = {
  name: 'volumeattributesclass-protection-controller',
  enabledByDefault: true,
  start: startVacProtection,
};

function startVacProtection(context: ControllerContext): KeyedController {
  const { informers, client } = context;
  const classes = informers.of(storage.VolumeAttributesClass);
  const volumes = informers.of(core.PersistentVolume).addIndex(CLASS_INDEX, classesOfVolume);
  const claims = informers.of(core.PersistentVolumeClaim).addIndex(CLASS_INDEX, classesOfClaim);
  const isUsed = (name: string) => [volumes, claims].some(({ lister }) => lister.byIndex(CLASS_INDEX, name).length > 0);
  const sync = async (key: string): Promise<void> => {
    const attributes = classes.lister.get(parseKey(key));
    const desired = attributes && reconcileClass(attributes, isUsed(attributes.metadata.name));
    if (desired !== undefined) await client.of(storage.VolumeAttributesClass).update(desired);
  };
  const controller = new KeyedController(context, { name: 'vacprotection', isExpected: isGone, objects: classes.lister, sync });
  const consider = (attributes: Class) => {
    if (protectionStep(attributes, CLASS_FINALIZER) !== undefined) controller.enqueue(attributes);
  };
  classes.addHandler({ add: consider, update: (_, attributes) => consider(attributes) });
  const release = (name: string) => controller.queue.add(name);
  onRelease(volumes, classesOfVolume, release);
  onRelease(claims, classesOfClaim, release);
  return controller;
}

/** Calls `release` with the names that an object stops using. */
function onRelease<T extends Identified>(
  informer: SharedInformer<T>,
  namesOf: (object: T) => readonly string[],
  release: (name: string) => void,
): void {
  informer.addHandler({
    update: (old, object) => {
      const names = namesOf(object);
      for (const name of namesOf(old)) if (!names.includes(name)) release(name);
    },
    delete: (object) => namesOf(object).forEach(release),
  });
}
