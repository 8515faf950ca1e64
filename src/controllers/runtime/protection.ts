import type { Identified } from '#client';

/** What to do with a protection finalizer: add it, or remove it once the object is unused. */
export type ProtectionStep = 'add' | 'release-when-unused' | undefined;

export function protectionStep({ metadata }: Identified, finalizer: string): ProtectionStep {
  const hasFinalizer = metadata.finalizers?.includes(finalizer) === true;
  if (metadata.deletionTimestamp !== undefined) return hasFinalizer ? 'release-when-unused' : undefined;
  return hasFinalizer ? undefined : 'add';
}

export function withFinalizer<T extends Identified>(object: T, finalizer: string): T {
  return { ...object, metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] } };
}

export function withoutFinalizer<T extends Identified>(object: T, finalizer: string): T {
  const finalizers = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
