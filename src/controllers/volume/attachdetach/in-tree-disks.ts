import { core } from '#api';
import { detachMode, isExclusive } from './reconcile.ts';

/** An iSCSI or Fibre Channel disk of a pod. No driver attaches it: a node may use it while volumesAttached of its status lists it. */
export interface InTreeDisk {
  readonly uniqueName: string;
  /** The name in messages: that of the PersistentVolume, or of the pod's volume. */
  readonly specName: string;
  /** Absent: an inline volume of the pod. Upstream lets any number of nodes have these. */
  readonly persistentVolume?: core.PersistentVolume | undefined;
}

export interface NodeDisksState {
  /** Undefined when the node is deleted; its disks went with its status. */
  readonly node: core.Node | undefined;
  /** The disks of the node's pods, by unique name. */
  readonly desired: ReadonlyMap<string, InTreeDisk>;
  /** Other nodes that have the disk, by unique name. */
  readonly otherNodes: ReadonlyMap<string, readonly string[]>;
  /** Since when each disk is unneeded, by unique name. */
  readonly unneededSinceMs: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

export interface NodeDisksPlan {
  /** The node's disks from now on. */
  readonly attached: readonly string[];
  readonly added: readonly InTreeDisk[];
  /** Disks that another node has, and only one may have. */
  readonly refused: readonly { readonly disk: InTreeDisk; readonly nodes: readonly string[] }[];
  /** Disks that the node may still use. */
  readonly forced: readonly string[];
}

/** The disks that a node's status lists. */
export function attachedDisks(node: core.Node | undefined): readonly string[] {
  return (node?.status?.volumesAttached ?? []).map(({ name }) => name).filter(core.isInTreeAttachedName);
}

export function reconcileDisks(state: NodeDisksState): NodeDisksPlan {
  const before = attachedDisks(state.node);
  const missing = [...state.desired.values()].filter(({ uniqueName }) => !before.includes(uniqueName));
  const nodesOf = ({ uniqueName, persistentVolume }: InTreeDisk) =>
    persistentVolume !== undefined && isExclusive(persistentVolume) ? (state.otherNodes.get(uniqueName) ?? []) : [];
  const added = state.node === undefined ? [] : missing.filter((disk) => nodesOf(disk).length === 0);
  const refused = missing.map((disk) => ({ disk, nodes: nodesOf(disk) })).filter(({ nodes }) => nodes.length > 0);
  const leaving = before.filter((name) => !state.desired.has(name)).map((name) => ({ name, how: mayLeave(name, state) }));
  const deletedNames = new Set(leaving.flatMap(({ name, how }) => (how === undefined ? [] : [name])));
  return {
    ...{ added, refused, forced: leaving.flatMap(({ name, how }) => (how === 'forced' ? [name] : [])) },
    attached: [...before.filter((name) => !deletedNames.has(name)), ...added.map(({ uniqueName }) => uniqueName)],
  };
}

function mayLeave(uniqueName: string, { node, unneededSinceMs, nowMs }: NodeDisksState) {
  return detachMode(node, { uniqueName, unneededForMs: nowMs - (unneededSinceMs.get(uniqueName) ?? nowMs) });
}
