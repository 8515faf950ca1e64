import type { ClusterObjects, Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP, unschedulable } from '../../framework/status.ts';
import { classOfClaim } from '../../framework/volume-claims.ts';

const NAME = 'NodeVolumeLimits';
const TOO_MANY = unschedulable(NAME, 'node(s) exceed max volume count');

/** Volumes by the driver that attaches them: each unique handle counts once a node. */
type AttachedVolumes = Map<string, string>;

/** No more volumes on a node than its CSI drivers can attach. */
export const nodeVolumeLimits: PluginFactory = (_, { objects }): Plugin => ({
  name: NAME,
  events: [
    { resource: 'CSINode', actions: ['Add', 'Update'] },
    { resource: 'AssignedPod', actions: ['Delete'], hint: (__, { before }) => (hasVolumes(before as PodInfo['pod']) ? 'Queue' : 'Skip') },
    { resource: 'PersistentVolumeClaim', actions: ['Add'] },
    { resource: 'Node', actions: ['Add'] },
  ],
  preFilter: (__, { claims }) => (claims.length === 0 ? { status: SKIP } : undefined),
  filter(__, pod, node) {
    const limits = limitsOf(node.name, objects);
    if (limits.size === 0) return undefined;
    const added: AttachedVolumes = new Map();
    collect(pod, objects, added);
    if (added.size === 0) return undefined;
    const attached: AttachedVolumes = new Map();
    for (const other of node.pods.values()) collect(other, objects, attached);
    return exceeds(limits, attached, added) ? TOO_MANY : undefined;
  },
});

function hasVolumes({ spec }: PodInfo['pod']): boolean {
  return (spec?.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim != null || ephemeral != null);
}

function limitsOf(name: string, { csiNodes }: ClusterObjects): Map<string, number> {
  const limits = new Map<string, number>();
  for (const { name: driver, allocatable } of csiNodes.get({ name })?.spec?.drivers ?? []) {
    if (allocatable?.count != null) limits.set(driver, allocatable.count);
  }
  return limits;
}

function collect({ namespace, claims }: PodInfo, objects: ClusterObjects, volumes: AttachedVolumes): void {
  for (const name of claims) {
    const claim = objects.claims.get({ name, namespace });
    if (claim === undefined) continue;
    const volumeName = claim.spec?.volumeName ?? '';
    const csi = volumeName === '' ? undefined : objects.volumes.get({ name: volumeName })?.spec?.csi;
    if (csi) volumes.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
    else if (volumeName === '') {
      // Not made yet: it will be by the class's driver.
      const driver = objects.storageClasses.get({ name: classOfClaim(claim) })?.provisioner;
      if (driver !== undefined) volumes.set(`${driver}/${namespace}/${name}`, driver);
    }
  }
}

function exceeds(limits: ReadonlyMap<string, number>, attached: AttachedVolumes, added: AttachedVolumes): boolean {
  const counts = new Map<string, number>();
  const fresh = [...added].filter(([id]) => !attached.has(id));
  for (const [, driver] of [...attached, ...fresh]) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return fresh.some(([, driver]) => (counts.get(driver) ?? 0) > (limits.get(driver) ?? Infinity));
}
