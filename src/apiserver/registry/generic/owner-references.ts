import type { meta } from '#api';
import { type KubeObject, withMetadata } from '../../watch-cache/kube-object.ts';

/** The origin of duplicates in the warning's text. */
export const IN_REQUEST = '';
export const AFTER_ADMISSION = ' after mutating admission happens';
type Moment = typeof IN_REQUEST | typeof AFTER_ADMISSION;

/** Deduplicates owner references, with upstream's warning. */
export function withUniqueOwners(object: KubeObject, warn: (message: string) => void, moment: Moment): KubeObject {
  const owners = object.metadata.ownerReferences as readonly meta.OwnerReference[] | undefined;
  if (owners === undefined || owners.length < 2) return object;
  const unique = new Map<string, meta.OwnerReference>();
  const duplicates: string[] = [];
  for (const owner of owners) {
    const key = contentOf(owner);
    if (unique.has(key)) duplicates.push(owner.uid);
    else unique.set(key, owner);
  }
  if (duplicates.length === 0) return object;
  warn(
    `.metadata.ownerReferences contains duplicate entries${moment}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
  return withMetadata(object, { ownerReferences: [...unique.values()] });
}

function contentOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: meta.OwnerReference): string {
  return JSON.stringify([uid, apiVersion, kind, name, controller, blockOwnerDeletion]);
}
