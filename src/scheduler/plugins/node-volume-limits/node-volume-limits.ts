import { minOf } from '#base';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects, Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP, unschedulable } from '../../framework/status.ts';
import { ATTACHMENTS_BY_NODE } from '../../framework/volume-attachments.ts';
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
    { resource: 'VolumeAttachment', actions: ['Delete'] },
  ],
  preFilter(state, pod) {
    const added: AttachedVolumes = new Map();
    collect(pod, objects, added);
    if (added.size === 0) return { status: SKIP };
    state.write(NAME, added);
    return undefined;
  },
  filter(state, __, node) {
    const added = state.read<AttachedVolumes>(NAME) ?? NOTHING;
    const limits = limitsOf(node.name, objects);
    if (limits.size === 0 || mostVolumes(node, objects) + added.size <= minOf(limits.values())) return undefined;
    const attached: AttachedVolumes = new Map();
    for (const other of node.pods.values()) collect(other, objects, attached);
    const unused = attachmentsOf(node.name, objects, attached);
    return exceeds(limits, [...attached, ...unused], notIn(attached, added)) ? TOO_MANY : undefined;
  },
});

const NOTHING: AttachedVolumes = new Map();

/** No fewer than are attached: each claim counts as one, whatever its driver. */
function mostVolumes({ name, claimUsers }: NodeInfo, { volumeAttachments }: ClusterObjects): number {
  return claimUsers.size + volumeAttachments.countByIndex(ATTACHMENTS_BY_NODE, name);
}

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
    const volume = volumeName === '' ? undefined : objects.volumes.get({ name: volumeName });
    const csi = volume?.spec?.csi;
    if (csi) volumes.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
    else if (volume === undefined) {
      // Not provisioned yet, or gone: it belongs to the class's driver.
      const driver = objects.storageClasses.get({ name: classOfClaim(claim) })?.provisioner;
      if (driver !== undefined) volumes.set(`${driver}/${namespace}/${name}`, driver);
    }
  }
}

type Attachment = readonly [id: string, driver: string];

/** Volumes may be attached to a node that no pod there uses any longer, or yet. */
function attachmentsOf(nodeName: string, objects: ClusterObjects, used: AttachedVolumes): readonly Attachment[] {
  const unused: AttachedVolumes = new Map();
  for (const { spec } of objects.volumeAttachments.byIndex(ATTACHMENTS_BY_NODE, nodeName)) {
    const csi = objects.volumes.get({ name: spec.source.persistentVolumeName ?? '' })?.spec?.csi;
    if (csi) unused.set(`${spec.attacher}/${csi.volumeHandle}`, spec.attacher);
  }
  return notIn(used, unused);
}

function notIn(attached: AttachedVolumes, volumes: AttachedVolumes): readonly Attachment[] {
  return [...volumes].filter(([id]) => !attached.has(id));
}

function exceeds(limits: ReadonlyMap<string, number>, attached: readonly Attachment[], fresh: readonly Attachment[]): boolean {
  const counts = new Map<string, number>();
  for (const [, driver] of [...attached, ...fresh]) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return fresh.some(([, driver]) => (counts.get(driver) ?? 0) > (limits.get(driver) ?? Infinity));
}
