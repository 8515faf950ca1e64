import type { Kind, meta } from '#api';
import type { Identified } from '#client';
import { apiVersionOf } from '#machinery';

/** The reference by which a controller marks what it made as its own. */
export function controllerRef(owner: Identified, kind: Pick<Kind<unknown>, 'group' | 'version' | 'kind'>): meta.OwnerReference {
  const { name, uid = '' } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The reference to the controller that an object belongs to, if it does. */
export function controllerOf({ metadata }: Identified): meta.OwnerReference | undefined {
  return metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: Identified, owner: Identified): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}
