import type { Kind, meta } from '#api';
import type { Identified } from '#client';
import { apiVersionOf } from '#machinery';

/** The owner reference of an object's controller. */
export function controllerRef(owner: Identified, kind: Pick<Kind<unknown>, 'group' | 'version' | 'kind'>): meta.OwnerReference {
  const { name, uid = '' } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The reference to an object's controller, if it has one. */
export function controllerOf({ metadata }: Identified): meta.OwnerReference | undefined {
  return metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: Identified, owner: Identified): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}
