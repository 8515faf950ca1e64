import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int32,
  listOf,
  mapOf,
  nullable,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../schema.ts';
import { AWSElasticBlockStoreVolumeSource } from './aws-elastic-block-store-volume-source.ts';
import { AzureDiskVolumeSource } from './azure-disk-volume-source.ts';
import { DownwardAPIVolumeFile } from './downward-api-volume-file.ts';
import { FCVolumeSource } from './fc-volume-source.ts';
import { FlockerVolumeSource } from './flocker-volume-source.ts';
import { GCEPersistentDiskVolumeSource } from './gce-persistent-disk-volume-source.ts';
import { HostPathVolumeSource } from './host-path-volume-source.ts';
import { KeyToPath } from './key-to-path.ts';
import { LocalObjectReference } from './local-object-reference.ts';
import { NFSVolumeSource } from './nfs-volume-source.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';
import { PhotonPersistentDiskVolumeSource } from './photon-persistent-disk-volume-source.ts';
import { PortworxVolumeSource } from './portworx-volume-source.ts';
import { ProjectedVolumeSource } from './projected-volume-source.ts';
import { QuobyteVolumeSource } from './quobyte-volume-source.ts';
import { VsphereVirtualDiskVolumeSource } from './vsphere-virtual-disk-volume-source.ts';

export const EmptyDirVolumeSource = object('io.k8s.api.core.v1.EmptyDirVolumeSource', 'An empty directory that lives as long as the pod.', {
  medium: field(1, string, "Memory keeps it in memory; '' uses the node's disk."),
  sizeLimit: pointer(2, quantity, 'The most it may hold; a pod that exceeds it is evicted.'),
});
export type EmptyDirVolumeSource = Infer<typeof EmptyDirVolumeSource>;

export const GitRepoVolumeSource = object('io.k8s.api.core.v1.GitRepoVolumeSource', '', {
  repository: required(1, string),
  revision: field(2, string),
  directory: field(3, string),
});
export type GitRepoVolumeSource = Infer<typeof GitRepoVolumeSource>;

export const SecretVolumeSource = object('io.k8s.api.core.v1.SecretVolumeSource', 'The keys of a Secret, as files.', {
  secretName: field(1, string, 'The Secret.'),
  items: field(2, listOf(KeyToPath), 'The keys to show, and where; all by default.'),
  defaultMode: pointer(3, int32, 'The permission bits of the files. 0644 by default.'),
  optional: pointer(4, bool, 'Whether the pod starts without it.'),
});
export type SecretVolumeSource = Infer<typeof SecretVolumeSource>;

export const ISCSIVolumeSource = object('io.k8s.api.core.v1.ISCSIVolumeSource', '', {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: field(4, string, '', { default: 'default' }),
  fsType: field(5, string, 'The file system, such as ext4.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
  portals: field(7, listOf(string)),
  chapAuthDiscovery: field(8, bool),
  chapAuthSession: field(11, bool),
  secretRef: pointer(10, LocalObjectReference, 'The Secret with credentials.'),
  initiatorName: pointer(12, string),
});
export type ISCSIVolumeSource = Infer<typeof ISCSIVolumeSource>;

export const GlusterfsVolumeSource = object('io.k8s.api.core.v1.GlusterfsVolumeSource', '', {
  endpoints: required(1, string),
  path: required(2, string),
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

export const RBDVolumeSource = object('io.k8s.api.core.v1.RBDVolumeSource', '', {
  monitors: required(1, listOf(string)),
  image: required(2, string),
  fsType: field(3, string, 'The file system, such as ext4.'),
  pool: field(4, string, '', { default: 'rbd' }),
  user: field(5, string, '', { default: 'admin' }),
  keyring: field(6, string, '', { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(8, bool, 'Whether it is mounted read-only.'),
});
export type RBDVolumeSource = Infer<typeof RBDVolumeSource>;

export const FlexVolumeSource = object('io.k8s.api.core.v1.FlexVolumeSource', '', {
  driver: required(1, string, 'The driver.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  secretRef: pointer(3, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  options: field(5, mapOf(string)),
});
export type FlexVolumeSource = Infer<typeof FlexVolumeSource>;

export const CinderVolumeSource = object('io.k8s.api.core.v1.CinderVolumeSource', '', {
  volumeID: required(1, string),
  fsType: field(2, string, 'The file system, such as ext4.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(4, LocalObjectReference, 'The Secret with credentials.'),
});
export type CinderVolumeSource = Infer<typeof CinderVolumeSource>;

export const CephFSVolumeSource = object('io.k8s.api.core.v1.CephFSVolumeSource', '', {
  monitors: required(1, listOf(string)),
  path: field(2, string),
  user: field(3, string),
  secretFile: field(4, string),
  secretRef: pointer(5, LocalObjectReference, 'The Secret with credentials.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
});
export type CephFSVolumeSource = Infer<typeof CephFSVolumeSource>;

export const DownwardAPIVolumeSource = object('io.k8s.api.core.v1.DownwardAPIVolumeSource', '', {
  items: field(1, listOf(DownwardAPIVolumeFile)),
  defaultMode: pointer(2, int32),
});
export type DownwardAPIVolumeSource = Infer<typeof DownwardAPIVolumeSource>;

export const AzureFileVolumeSource = object('io.k8s.api.core.v1.AzureFileVolumeSource', '', {
  secretName: required(1, string),
  shareName: required(2, string),
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

export const ScaleIOVolumeSource = object('io.k8s.api.core.v1.ScaleIOVolumeSource', '', {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: nullable(3, LocalObjectReference, 'The Secret with credentials.', { required: true }),
  sslEnabled: field(4, bool),
  protectionDomain: field(5, string),
  storagePool: field(6, string),
  storageMode: field(7, string, '', { default: 'ThinProvisioned' }),
  volumeName: field(8, string),
  fsType: field(9, string, 'The file system, such as ext4.', { default: 'xfs' }),
  readOnly: field(10, bool, 'Whether it is mounted read-only.'),
});
export type ScaleIOVolumeSource = Infer<typeof ScaleIOVolumeSource>;

export const StorageOSVolumeSource = object('io.k8s.api.core.v1.StorageOSVolumeSource', '', {
  volumeName: field(1, string),
  volumeNamespace: field(2, string),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(5, LocalObjectReference, 'The Secret with credentials.'),
});
export type StorageOSVolumeSource = Infer<typeof StorageOSVolumeSource>;

export const CSIVolumeSource = object('io.k8s.api.core.v1.CSIVolumeSource', 'A volume that a CSI driver makes with the pod.', {
  driver: required(1, string, 'The driver.'),
  readOnly: pointer(2, bool, 'Whether it is mounted read-only.'),
  fsType: pointer(3, string, 'The file system; the driver decides by default.'),
  volumeAttributes: field(4, mapOf(string), 'What the driver is told.'),
  nodePublishSecretRef: pointer(5, LocalObjectReference, 'The Secret that the driver is given.'),
});
export type CSIVolumeSource = Infer<typeof CSIVolumeSource>;

export const PersistentVolumeClaimTemplate = object('io.k8s.api.core.v1.PersistentVolumeClaimTemplate', '', {
  metadata: always(1, ObjectMeta, 'Standard object metadata.'),
  spec: required(2, PersistentVolumeClaimSpec),
});
export type PersistentVolumeClaimTemplate = Infer<typeof PersistentVolumeClaimTemplate>;

export const EphemeralVolumeSource = object(
  'io.k8s.api.core.v1.EphemeralVolumeSource',
  'A claim that is made with the pod and goes with it.',
  {
    volumeClaimTemplate: pointer(1, PersistentVolumeClaimTemplate, 'The claim to make.'),
  },
);
export type EphemeralVolumeSource = Infer<typeof EphemeralVolumeSource>;

export const ImageVolumeSource = object('io.k8s.api.core.v1.ImageVolumeSource', '', {
  reference: field(1, string),
  pullPolicy: field(2, string),
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
  ephemeral: pointer(29, EphemeralVolumeSource, 'A claim that is made with the pod and goes with it.'),
  image: pointer(30, ImageVolumeSource, 'The content of an image.'),
});
export type VolumeSource = Infer<typeof VolumeSource>;
