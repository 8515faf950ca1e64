import type { core } from '#api';
import type { OwnershipRequest } from '../files/volume-ownership.ts';

/** The ownership by the pod's fsGroup; undefined without one. */
export function podOwnership({ spec }: core.Pod, readOnly: boolean): OwnershipRequest | undefined {
  const { fsGroup, fsGroupChangePolicy } = spec?.securityContext ?? {};
  if (fsGroup === undefined) return undefined;
  return { fsGroup: Number(fsGroup), policy: fsGroupChangePolicy, readOnly };
}
