import type { core } from '#api';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from './snapshot-kinds.ts';
import { filled } from './template-secret.ts';

/** On a content: its snapshot is being deleted. */
export const BEING_DELETED = 'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted';
/** On a content until its snapshot in the storage system is deleted or given up. */
export const CONTENT_BOUND = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
export const DELETION_SECRET = 'snapshot.storage.kubernetes.io/deletion-secret';
const PREFIX = 'csi.storage.k8s.io/';
const SECRET_PARAMETER = /^csi\.storage\.k8s\.io\/(group-)?snapshotter-((list|get)-)?secret-name(space)?$/;

export function contentName(snapshotUid: string | undefined): string {
  return `snapcontent-${snapshotUid}`;
}

/** The content of a snapshot of a claim's volume. */
export function newContent(snapshot: VolumeSnapshot, chosen: VolumeSnapshotClass, volume: core.PersistentVolume): object {
  const { name, namespace, uid, resourceVersion } = snapshot.metadata;
  const secret = snapshotSecret(chosen, 'snapshotter', { contentName: contentName(uid), snapshot });
  const annotations = secret && { [`${DELETION_SECRET}-name`]: secret.name, [`${DELETION_SECRET}-namespace`]: secret.namespace };
  return {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: contentName(uid), finalizers: [CONTENT_BOUND], ...(annotations && { annotations }) },
    spec: {
      ...{ driver: chosen.driver, deletionPolicy: chosen.deletionPolicy, volumeSnapshotClassName: chosen.metadata.name },
      source: { volumeHandle: volume.spec?.csi?.volumeHandle },
      sourceVolumeMode: volume.spec?.volumeMode ?? 'Filesystem',
      volumeSnapshotRef: { kind: 'VolumeSnapshot', apiVersion: 'snapshot.storage.k8s.io/v1', name, namespace, uid, resourceVersion },
    },
  };
}

interface SecretValues {
  readonly contentName: string;
  /** Absent when it may be deleted. */
  readonly snapshot?: VolumeSnapshot;
}

/** The secret that a class names for a purpose, `snapshotter` or `snapshotter-list`. */
export function snapshotSecret(
  { parameters = {} }: VolumeSnapshotClass,
  purpose: string,
  { contentName: content, snapshot }: SecretValues,
): core.SecretReference | undefined {
  const name = parameters[`${PREFIX}${purpose}-secret-name`];
  const namespace = parameters[`${PREFIX}${purpose}-secret-namespace`];
  if (!name && !namespace) return undefined;
  if (!name || !namespace) throw new Error(`either name and namespace for ${purpose} secrets specified, Both must be specified`);
  const trusted: [string, string][] = [['volumesnapshotcontent.name', content]];
  if (snapshot !== undefined) trusted.push(['volumesnapshot.namespace', snapshot.metadata.namespace ?? '']);
  const chosen: [string, string][] = snapshot === undefined ? [] : [['volumesnapshot.name', snapshot.metadata.name]];
  return { name: filled(name, new Map([...trusted, ...chosen])), namespace: filled(namespace, new Map(trusted)) };
}

/** The parameters of a class without the snapshotter's own. */
export function snapshotParameters({ parameters = {} }: VolumeSnapshotClass): Readonly<Record<string, string>> {
  const unknown = Object.keys(parameters).find((key) => key.startsWith(PREFIX) && !SECRET_PARAMETER.test(key));
  if (unknown !== undefined)
    throw new Error(
      `failed to remove CSI Parameters of prefixed keys: found unknown parameter key "${unknown}" with reserved namespace ${PREFIX}`,
    );
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(PREFIX)));
}

/** What external-snapshotter adds with `--extra-create-metadata`. */
export function createMetadata({ metadata, spec }: VolumeSnapshotContent): Readonly<Record<string, string>> {
  const { name = '', namespace = '' } = spec.volumeSnapshotRef;
  return {
    [`${PREFIX}volumesnapshot/name`]: name,
    [`${PREFIX}volumesnapshot/namespace`]: namespace,
    [`${PREFIX}volumesnapshotcontent/name`]: metadata.name,
  };
}
