import type { ObjectKey } from '#client';
import { ignoreError } from './driver-controller.ts';

interface FinalizedObject {
  readonly metadata: { readonly finalizers?: readonly string[]; readonly resourceVersion?: string; readonly uid?: string };
}

export interface FinalizedObjects {
  get(key: ObjectKey): Promise<FinalizedObject>;
  patch(key: ObjectKey, patch: object): Promise<unknown>;
}

/** Rejects when the object does not exist. */
export async function addFinalizer(objects: FinalizedObjects, key: ObjectKey, finalizer: string): Promise<void> {
  const { finalizers = [], resourceVersion } = (await objects.get(key)).metadata;
  if (finalizers.includes(finalizer)) return;
  await objects.patch(key, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } });
}

/** Of an object that does not exist any more there is nothing to remove. */
export async function removeFinalizer(objects: FinalizedObjects, key: ObjectKey, finalizer: string): Promise<void> {
  const current = await objects.get(key).catch(ignoreError('NotFound'));
  const { finalizers = [], resourceVersion } = current?.metadata ?? {};
  if (!finalizers.includes(finalizer)) return;
  const remaining = finalizers.filter((name) => name !== finalizer);
  await objects.patch(key, { metadata: { finalizers: remaining, resourceVersion } }).catch(ignoreError('NotFound'));
}
