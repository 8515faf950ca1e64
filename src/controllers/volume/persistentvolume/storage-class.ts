import type { core, storage } from '#api';

type Claim = core.PersistentVolumeClaim;
type StorageClass = storage.StorageClass;

/** The annotation that preceded storageClassName. It still takes precedence. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_ANNOTATIONS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** The class of a claim or volume; empty when it has none. */
export function classNameOf({ metadata, spec }: Claim | core.PersistentVolume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';
}

/** Whether the claim sets a class, including the empty one. */
export function choosesClass({ metadata, spec }: Claim): boolean {
  return metadata.annotations?.[CLASS_ANNOTATION] !== undefined || spec?.storageClassName !== undefined;
}

/** The default class: the newest of those that are marked as default, then the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const defaults = classes.filter(({ metadata }) => DEFAULT_ANNOTATIONS.some((name) => metadata.annotations?.[name] === 'true'));
  return defaults.sort((a, b) => compare(created(b), created(a)) || compare(a.metadata.name, b.metadata.name))[0];
}

function created({ metadata }: StorageClass): string {
  return metadata.creationTimestamp ?? '';
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
