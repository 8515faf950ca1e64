import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int32,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../../schema.ts';
import { PersistentVolumeClaimSpec } from '../persistent-volume-claim/persistent-volume-claim-spec.ts';
import { LocalObjectReference } from '../reference/local-object-reference.ts';
import { AWSElasticBlockStoreVolumeSource } from './aws-elastic-block-store-volume-source.ts';
import { AzureDiskVolumeSource } from './azure-disk-volume-source.ts';
import { DownwardAPIVolumeFile } from './downward-api-volume-file.ts';
import { FCVolumeSource } from './fc-volume-source.ts';
import { FlockerVolumeSource } from './flocker-volume-source.ts';
import { GCEPersistentDiskVolumeSource } from './gce-persistent-disk-volume-source.ts';
import { HostPathVolumeSource } from './host-path-volume-source.ts';
import { KeyToPath } from './key-to-path.ts';
import { NFSVolumeSource } from './nfs-volume-source.ts';
import { PhotonPersistentDiskVolumeSource } from './photon-persistent-disk-volume-source.ts';
import { PortworxVolumeSource } from './portworx-volume-source.ts';
import { ProjectedVolumeSource } from './projected-volume-source.ts';
import { QuobyteVolumeSource } from './quobyte-volume-source.ts';
import { VsphereVirtualDiskVolumeSource } from './vsphere-virtual-disk-volume-source.ts';

export const EmptyDirVolumeSource = object('io.k8s.api.core.v1.EmptyDirVolumeSource', 'An empty directory that lives as long as the pod.', {
  medium: field(1, named('v1.StorageMedium'), "Memory keeps it in memory; '' uses the node's disk."),
  sizeLimit: pointer(2, quantity, 'The most it may hold; a pod that exceeds it is evicted.'),
});
export type EmptyDirVolumeSource = Infer<typeof EmptyDirVolumeSource>;

export const GitRepoVolumeSource = object('io.k8s.api.core.v1.GitRepoVolumeSource', 'A Git repository. Disabled.', {
  repository: required(1, string, 'The address of the repository.'),
  revision: field(2, string, 'The commit.'),
  directory: field(3, string, 'The directory to put it in.'),
});
export type GitRepoVolumeSource = Infer<typeof GitRepoVolumeSource>;

export const SecretVolumeSource = object('io.k8s.api.core.v1.SecretVolumeSource', 'The keys of a Secret, as files.', {
  secretName: field(1, string, 'The Secret.'),
  items: field(2, listOf(KeyToPath), 'The keys to show, and where; all by default.'),
  defaultMode: pointer(3, int32, 'The permission bits of the files. 0644 by default.'),
  optional: pointer(4, bool, 'Whether the pod starts without it.'),
});
export type SecretVolumeSource = Infer<typeof SecretVolumeSource>;

export const ISCSIVolumeSource = object('io.k8s.api.core.v1.ISCSIVolumeSource', 'An iSCSI disk.', {
  targetPortal: required(1, string, 'The portal, as address or address:port.'),
  iqn: required(2, string, 'The qualified name of the target.'),
  lun: required(3, int32, 'The number of the disk.'),
  iscsiInterface: field(4, string, 'The interface; default (tcp) by default.', { default: 'default' }),
  fsType: field(5, string, 'The file system, such as ext4.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
  portals: field(7, listOf(string), 'Further portals.'),
  chapAuthDiscovery: field(8, bool, 'Whether discovery uses CHAP.'),
  chapAuthSession: field(11, bool, 'Whether sessions use CHAP.'),
  secretRef: pointer(10, LocalObjectReference, 'The Secret with credentials.'),
  initiatorName: pointer(12, string, 'The name of the initiator.'),
});
export type ISCSIVolumeSource = Infer<typeof ISCSIVolumeSource>;

export const GlusterfsVolumeSource = object('io.k8s.api.core.v1.GlusterfsVolumeSource', 'A Gluster volume.', {
  endpoints: required(1, string, 'The Endpoints that list the servers.'),
  path: required(2, string, 'The volume.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
});
export type GlusterfsVolumeSource = Infer<typeof GlusterfsVolumeSource>;

export const PersistentVolumeClaimVolumeSource = object(
  'io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource',
  'The volume behind a claim.',
  {
    claimName: required(1, string, "The claim, in the pod's namespace."),
    readOnly: field(2, bool, 'Whether it is mounted read-only everywhere.'),
  },
);
export type PersistentVolumeClaimVolumeSource = Infer<typeof PersistentVolumeClaimVolumeSource>;

export const RBDVolumeSource = object('io.k8s.api.core.v1.RBDVolumeSource', 'A Ceph block device.', {
  monitors: required(1, listOf(string), 'The addresses of the monitors.'),
  image: required(2, string, 'The image.'),
  fsType: field(3, string, 'The file system, such as ext4.'),
  pool: field(4, string, 'The pool; rbd by default.', { default: 'rbd' }),
  user: field(5, string, 'The user; admin by default.', { default: 'admin' }),
  keyring: field(6, string, 'The file with keys; /etc/ceph/keyring by default.', { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(8, bool, 'Whether it is mounted read-only.'),
});
export type RBDVolumeSource = Infer<typeof RBDVolumeSource>;

export const FlexVolumeSource = object('io.k8s.api.core.v1.FlexVolumeSource', 'A volume of an exec-based driver.', {
  driver: required(1, string, 'The driver.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  secretRef: pointer(3, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  options: field(5, mapOf(string), 'Options passed to the driver.'),
});
export type FlexVolumeSource = Infer<typeof FlexVolumeSource>;

export const CinderVolumeSource = object('io.k8s.api.core.v1.CinderVolumeSource', 'An OpenStack volume.', {
  volumeID: required(1, string, 'The volume.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(4, LocalObjectReference, 'The Secret with credentials.'),
});
export type CinderVolumeSource = Infer<typeof CinderVolumeSource>;

export const CephFSVolumeSource = object('io.k8s.api.core.v1.CephFSVolumeSource', 'A Ceph file system.', {
  monitors: required(1, listOf(string), 'The addresses of the monitors.'),
  path: field(2, string, 'The directory to mount; / by default.'),
  user: field(3, string, 'The user; admin by default.'),
  secretFile: field(4, string, 'The file with the key of the user.'),
  secretRef: pointer(5, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
});
export type CephFSVolumeSource = Infer<typeof CephFSVolumeSource>;

export const DownwardAPIVolumeSource = object('io.k8s.api.core.v1.DownwardAPIVolumeSource', 'Fields of the pod, as files.', {
  items: field(1, listOf(DownwardAPIVolumeFile), 'The files.'),
  defaultMode: pointer(2, int32, 'The permission bits of the files. 0644 by default.'),
});
export type DownwardAPIVolumeSource = Infer<typeof DownwardAPIVolumeSource>;

export const AzureFileVolumeSource = object('io.k8s.api.core.v1.AzureFileVolumeSource', 'An Azure file share.', {
  secretName: required(1, string, 'The Secret with account and key.'),
  shareName: required(2, string, 'The share.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
});
export type AzureFileVolumeSource = Infer<typeof AzureFileVolumeSource>;

export const ConfigMapVolumeSource = object('io.k8s.api.core.v1.ConfigMapVolumeSource', 'The keys of a ConfigMap, as files.', {
  ...inlined(1, LocalObjectReference),
  items: field(2, listOf(KeyToPath), 'The keys to show, and where; all by default.'),
  defaultMode: pointer(3, int32, 'The permission bits of the files. 0644 by default.'),
  optional: pointer(4, bool, 'Whether the pod starts without it.'),
});
export type ConfigMapVolumeSource = Infer<typeof ConfigMapVolumeSource>;

export const ScaleIOVolumeSource = object('io.k8s.api.core.v1.ScaleIOVolumeSource', 'No longer supported.', {
  gateway: required(1, string, 'The gateway of the API.'),
  system: required(2, string, 'The storage system.'),
  secretRef: nullable(3, LocalObjectReference, 'The Secret with credentials.', { required: true }),
  sslEnabled: field(4, bool, 'Whether TLS is used.'),
  protectionDomain: field(5, string, 'The protection domain.'),
  storagePool: field(6, string, 'The storage pool.'),
  storageMode: field(7, string, 'ThickProvisioned or ThinProvisioned.', { default: 'ThinProvisioned' }),
  volumeName: field(8, string, 'The volume.'),
  fsType: field(9, string, 'The file system, such as ext4.', { default: 'xfs' }),
  readOnly: field(10, bool, 'Whether it is mounted read-only.'),
});
export type ScaleIOVolumeSource = Infer<typeof ScaleIOVolumeSource>;

export const StorageOSVolumeSource = object('io.k8s.api.core.v1.StorageOSVolumeSource', 'No longer supported.', {
  volumeName: field(1, string, 'The volume.'),
  volumeNamespace: field(2, string, 'The namespace of the volume.'),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(5, LocalObjectReference, 'The Secret with credentials.'),
});
export type StorageOSVolumeSource = Infer<typeof StorageOSVolumeSource>;

export const CSIVolumeSource = object('io.k8s.api.core.v1.CSIVolumeSource', 'A volume that a CSI driver makes with the pod.', {
  driver: required(1, string, 'The driver.'),
  readOnly: pointer(2, bool, 'Whether it is mounted read-only.'),
  fsType: pointer(3, string, 'The file system; the driver decides by default.'),
  volumeAttributes: field(4, mapOf(string), 'Options passed to the driver.'),
  nodePublishSecretRef: pointer(5, LocalObjectReference, 'The Secret that the driver is given.'),
});
export type CSIVolumeSource = Infer<typeof CSIVolumeSource>;

export const PersistentVolumeClaimTemplate = object(
  'io.k8s.api.core.v1.PersistentVolumeClaimTemplate',
  'What a claim made with a pod looks like.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, PersistentVolumeClaimSpec, 'What storage is wanted.'),
  },
);
export type PersistentVolumeClaimTemplate = Infer<typeof PersistentVolumeClaimTemplate>;

export const EphemeralVolumeSource = object(
  'io.k8s.api.core.v1.EphemeralVolumeSource',
  'A claim that is created and deleted with the pod.',
  {
    volumeClaimTemplate: pointer(1, PersistentVolumeClaimTemplate, 'The claim to make.'),
  },
);
export type EphemeralVolumeSource = Infer<typeof EphemeralVolumeSource>;

export const ImageVolumeSource = object('io.k8s.api.core.v1.ImageVolumeSource', 'The content of an image.', {
  reference: field(1, string, 'The image.'),
  pullPolicy: field(2, named('v1.PullPolicy'), 'Always, IfNotPresent or Never.'),
});
export type ImageVolumeSource = Infer<typeof ImageVolumeSource>;

export const VolumeSource = object('io.k8s.api.core.v1.VolumeSource', "Where a volume's content comes from. Exactly one member is set.", {
  hostPath: pointer(1, HostPathVolumeSource, 'A file or directory of the node.'),
  emptyDir: pointer(2, EmptyDirVolumeSource, 'An empty directory that lives as long as the pod.'),
  gcePersistentDisk: pointer(3, GCEPersistentDiskVolumeSource, 'A disk of Google Compute Engine. Deprecated: use CSI.'),
  awsElasticBlockStore: pointer(4, AWSElasticBlockStoreVolumeSource, 'A disk of AWS. Deprecated: use CSI.'),
  gitRepo: pointer(5, GitRepoVolumeSource, 'A Git repository. Deprecated and disabled.'),
  secret: pointer(6, SecretVolumeSource, 'The keys of a Secret, as files.'),
  nfs: pointer(7, NFSVolumeSource, 'A directory of an NFS server.'),
  iscsi: pointer(8, ISCSIVolumeSource, 'An iSCSI disk.'),
  glusterfs: pointer(9, GlusterfsVolumeSource, 'A Gluster volume. Deprecated.'),
  persistentVolumeClaim: pointer(10, PersistentVolumeClaimVolumeSource, 'The volume behind a claim.'),
  rbd: pointer(11, RBDVolumeSource, 'A Ceph block device. Deprecated.'),
  flexVolume: pointer(12, FlexVolumeSource, 'A volume of an exec-based driver. Deprecated: use CSI.'),
  cinder: pointer(13, CinderVolumeSource, 'An OpenStack volume. Deprecated: use CSI.'),
  cephfs: pointer(14, CephFSVolumeSource, 'A Ceph file system. Deprecated.'),
  flocker: pointer(15, FlockerVolumeSource, 'No longer supported.'),
  downwardAPI: pointer(16, DownwardAPIVolumeSource, 'Fields of the pod, as files.'),
  fc: pointer(17, FCVolumeSource, 'A Fibre Channel disk.'),
  azureFile: pointer(18, AzureFileVolumeSource, 'An Azure file share. Deprecated: use CSI.'),
  configMap: pointer(19, ConfigMapVolumeSource, 'The keys of a ConfigMap, as files.'),
  vsphereVolume: pointer(20, VsphereVirtualDiskVolumeSource, 'A vSphere disk. Deprecated: use CSI.'),
  quobyte: pointer(21, QuobyteVolumeSource, 'No longer supported.'),
  azureDisk: pointer(22, AzureDiskVolumeSource, 'An Azure disk. Deprecated: use CSI.'),
  photonPersistentDisk: pointer(23, PhotonPersistentDiskVolumeSource, 'No longer supported.'),
  projected: pointer(26, ProjectedVolumeSource, 'Several sources in one directory.'),
  portworxVolume: pointer(24, PortworxVolumeSource, 'A Portworx volume. Deprecated: use CSI.'),
  scaleIO: pointer(25, ScaleIOVolumeSource, 'No longer supported.'),
  storageos: pointer(27, StorageOSVolumeSource, 'No longer supported.'),
  csi: pointer(28, CSIVolumeSource, 'A volume that a CSI driver makes with the pod.'),
  ephemeral: pointer(29, EphemeralVolumeSource, 'A claim that is created and deleted with the pod.'),
  image: pointer(30, ImageVolumeSource, 'The content of an image.'),
});
export type VolumeSource = Infer<typeof VolumeSource>;
