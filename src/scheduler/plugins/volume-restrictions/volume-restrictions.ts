import type { core } from '#api';
import type { CloneableState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP, unresolvable, unschedulable } from '../../framework/status.ts';
import { claimsOf } from '../../framework/volume-claims.ts';
import { disksConflict, hasExclusiveDisk } from './disk-conflict.ts';

const NAME = 'VolumeRestrictions';
const DISK_IN_USE = unschedulable(NAME, 'node(s) had no available disk');
const CLAIM_IN_USE = unschedulable(
  NAME,
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
);

/** Claims that only one pod may use, with how many do. */
class ExclusiveClaims implements CloneableState {
  constructor(
    readonly keys: ReadonlySet<string>,
    public users: number,
  ) {}

  clone(): ExclusiveClaims {
    return new ExclusiveClaims(this.keys, this.users);
  }

  change({ namespace, claims }: PodInfo, by: 1 | -1): void {
    for (const name of claims) if (this.keys.has(`${namespace}/${name}`)) this.users += by;
  }
}

/** Rejects nodes where an exclusive disk or a ReadWriteOncePod claim is in use. */
export const volumeRestrictions: PluginFactory = (_, { objects }): Plugin => ({
  name: NAME,
  events: [
    { resource: 'AssignedPod', actions: ['Delete'], hint: (pod, { before }) => (sharesVolume(pod, before as core.Pod) ? 'Queue' : 'Skip') },
    { resource: 'Node', actions: ['Add'] },
    {
      resource: 'PersistentVolumeClaim',
      actions: ['Add', 'Update'],
      hint: (pod, { after }) => (usesClaim(pod, after as core.PersistentVolumeClaim) ? 'Queue' : 'Skip'),
    },
  ],
  preFilter(state, pod, snapshot) {
    const claims = claimsOf(pod, objects);
    if (typeof claims === 'string') return { status: unresolvable(NAME, claims) };
    const exclusive = claims.filter(({ spec }) => (spec?.accessModes ?? []).includes('ReadWriteOncePod'));
    if (exclusive.length === 0) return hasExclusiveDisk(pod.pod) ? undefined : { status: SKIP };
    const keys = new Set(exclusive.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    state.write(NAME, new ExclusiveClaims(keys, countUsers(keys, snapshot.nodes)));
    return undefined;
  },
  addPod: (state, _pod, change) => state.read<ExclusiveClaims>(NAME)?.change(change.pod, 1),
  removePod: (state, _pod, change) => state.read<ExclusiveClaims>(NAME)?.change(change.pod, -1),
  filter(state, { pod }, node) {
    for (const other of node.pods.values()) if (disksConflict(pod, other.pod)) return DISK_IN_USE;
    return (state.read<ExclusiveClaims>(NAME)?.users ?? 0) > 0 ? CLAIM_IN_USE : undefined;
  },
});

function countUsers(keys: ReadonlySet<string>, nodes: readonly NodeInfo[]): number {
  let users = 0;
  for (const { claimUsers } of nodes) for (const key of keys) users += claimUsers.get(key) ?? 0;
  return users;
}

function sharesVolume({ namespace, claims, pod }: PodInfo, deleted: core.Pod): boolean {
  if (disksConflict(pod, deleted)) return true;
  if (deleted.metadata.namespace !== namespace) return false;
  const own = new Set(claims);
  return (deleted.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => own.has(persistentVolumeClaim?.claimName ?? ''));
}

export function usesClaim({ namespace, claims }: PodInfo, { metadata }: core.PersistentVolumeClaim): boolean {
  return metadata.namespace === namespace && claims.includes(metadata.name);
}
