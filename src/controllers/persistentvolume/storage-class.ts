import type { core, storage } from '#api';

type Claim = core.PersistentVolumeClaim;
type StorageClass = storage.StorageClass;

/** What named the class before there was a field for it. It still wins over the field. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_ANNOTATIONS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** The name of the class that a claim or a volume belongs to; '' when to none. */
export function classNameOf({ metadata, spec }: Claim | core.PersistentVolume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';
}

/** The claim says which class it wants, even if none at all. */
export function choosesClass({ metadata, spec }: Claim): boolean {
  return metadata.annotations?.[CLASS_ANNOTATION] !== undefined || spec?.storageClassName !== undefined;
}

/** The class that claims get when they do not say: the newest of those that are marked, then the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const marked = classes.filter(({ metadata }) => DEFAULT_ANNOTATIONS.some((name) => metadata.annotations?.[name] === 'true'));
  return marked.sort((a, b) => compare(created(b), created(a)) || compare(a.metadata.name, b.metadata.name))[0];
}

function created({ metadata }: StorageClass): string {
  return metadata.creationTimestamp ?? '';
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
