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

export const EmptyDirVolumeSource = object('io.k8s.api.core.v1.EmptyDirVolumeSource', '', {
  medium: field(1, string),
  sizeLimit: pointer(2, quantity),
});
export type EmptyDirVolumeSource = Infer<typeof EmptyDirVolumeSource>;

export const GitRepoVolumeSource = object('io.k8s.api.core.v1.GitRepoVolumeSource', '', {
  repository: required(1, string),
  revision: field(2, string),
  directory: field(3, string),
});
export type GitRepoVolumeSource = Infer<typeof GitRepoVolumeSource>;

export const SecretVolumeSource = object('io.k8s.api.core.v1.SecretVolumeSource', '', {
  secretName: field(1, string),
  items: field(2, listOf(KeyToPath)),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});
export type SecretVolumeSource = Infer<typeof SecretVolumeSource>;

export const ISCSIVolumeSource = object('io.k8s.api.core.v1.ISCSIVolumeSource', '', {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: field(4, string, '', { default: 'default' }),
  fsType: field(5, string),
  readOnly: field(6, bool),
  portals: field(7, listOf(string)),
  chapAuthDiscovery: field(8, bool),
  chapAuthSession: field(11, bool),
  secretRef: pointer(10, LocalObjectReference),
  initiatorName: pointer(12, string),
});
export type ISCSIVolumeSource = Infer<typeof ISCSIVolumeSource>;

export const GlusterfsVolumeSource = object('io.k8s.api.core.v1.GlusterfsVolumeSource', '', {
  endpoints: required(1, string),
  path: required(2, string),
  readOnly: field(3, bool),
});
export type GlusterfsVolumeSource = Infer<typeof GlusterfsVolumeSource>;

export const PersistentVolumeClaimVolumeSource = object('io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource', '', {
  claimName: required(1, string),
  readOnly: field(2, bool),
});
export type PersistentVolumeClaimVolumeSource = Infer<typeof PersistentVolumeClaimVolumeSource>;

export const RBDVolumeSource = object('io.k8s.api.core.v1.RBDVolumeSource', '', {
  monitors: required(1, listOf(string)),
  image: required(2, string),
  fsType: field(3, string),
  pool: field(4, string, '', { default: 'rbd' }),
  user: field(5, string, '', { default: 'admin' }),
  keyring: field(6, string, '', { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, LocalObjectReference),
  readOnly: field(8, bool),
});
export type RBDVolumeSource = Infer<typeof RBDVolumeSource>;

export const FlexVolumeSource = object('io.k8s.api.core.v1.FlexVolumeSource', '', {
  driver: required(1, string),
  fsType: field(2, string),
  secretRef: pointer(3, LocalObjectReference),
  readOnly: field(4, bool),
  options: field(5, mapOf(string)),
});
export type FlexVolumeSource = Infer<typeof FlexVolumeSource>;

export const CinderVolumeSource = object('io.k8s.api.core.v1.CinderVolumeSource', '', {
  volumeID: required(1, string),
  fsType: field(2, string),
  readOnly: field(3, bool),
  secretRef: pointer(4, LocalObjectReference),
});
export type CinderVolumeSource = Infer<typeof CinderVolumeSource>;

export const CephFSVolumeSource = object('io.k8s.api.core.v1.CephFSVolumeSource', '', {
  monitors: required(1, listOf(string)),
  path: field(2, string),
  user: field(3, string),
  secretFile: field(4, string),
  secretRef: pointer(5, LocalObjectReference),
  readOnly: field(6, bool),
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
  readOnly: field(3, bool),
});
export type AzureFileVolumeSource = Infer<typeof AzureFileVolumeSource>;

export const ConfigMapVolumeSource = object('io.k8s.api.core.v1.ConfigMapVolumeSource', '', {
  ...inlined(1, LocalObjectReference),
  items: field(2, listOf(KeyToPath)),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});
export type ConfigMapVolumeSource = Infer<typeof ConfigMapVolumeSource>;

export const ScaleIOVolumeSource = object('io.k8s.api.core.v1.ScaleIOVolumeSource', '', {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: nullable(3, LocalObjectReference, '', { required: true }),
  sslEnabled: field(4, bool),
  protectionDomain: field(5, string),
  storagePool: field(6, string),
  storageMode: field(7, string, '', { default: 'ThinProvisioned' }),
  volumeName: field(8, string),
  fsType: field(9, string, '', { default: 'xfs' }),
  readOnly: field(10, bool),
});
export type ScaleIOVolumeSource = Infer<typeof ScaleIOVolumeSource>;

export const StorageOSVolumeSource = object('io.k8s.api.core.v1.StorageOSVolumeSource', '', {
  volumeName: field(1, string),
  volumeNamespace: field(2, string),
  fsType: field(3, string),
  readOnly: field(4, bool),
  secretRef: pointer(5, LocalObjectReference),
});
export type StorageOSVolumeSource = Infer<typeof StorageOSVolumeSource>;

export const CSIVolumeSource = object('io.k8s.api.core.v1.CSIVolumeSource', '', {
  driver: required(1, string),
  readOnly: pointer(2, bool),
  fsType: pointer(3, string),
  volumeAttributes: field(4, mapOf(string)),
  nodePublishSecretRef: pointer(5, LocalObjectReference),
});
export type CSIVolumeSource = Infer<typeof CSIVolumeSource>;

export const PersistentVolumeClaimTemplate = object('io.k8s.api.core.v1.PersistentVolumeClaimTemplate', '', {
  metadata: always(1, ObjectMeta),
  spec: required(2, PersistentVolumeClaimSpec),
});
export type PersistentVolumeClaimTemplate = Infer<typeof PersistentVolumeClaimTemplate>;

export const EphemeralVolumeSource = object('io.k8s.api.core.v1.EphemeralVolumeSource', '', {
  volumeClaimTemplate: pointer(1, PersistentVolumeClaimTemplate),
});
export type EphemeralVolumeSource = Infer<typeof EphemeralVolumeSource>;

export const ImageVolumeSource = object('io.k8s.api.core.v1.ImageVolumeSource', '', {
  reference: field(1, string),
  pullPolicy: field(2, string),
});
export type ImageVolumeSource = Infer<typeof ImageVolumeSource>;

export const VolumeSource = object('io.k8s.api.core.v1.VolumeSource', '', {
  hostPath: pointer(1, HostPathVolumeSource),
  emptyDir: pointer(2, EmptyDirVolumeSource),
  gcePersistentDisk: pointer(3, GCEPersistentDiskVolumeSource),
  awsElasticBlockStore: pointer(4, AWSElasticBlockStoreVolumeSource),
  gitRepo: pointer(5, GitRepoVolumeSource),
  secret: pointer(6, SecretVolumeSource),
  nfs: pointer(7, NFSVolumeSource),
  iscsi: pointer(8, ISCSIVolumeSource),
  glusterfs: pointer(9, GlusterfsVolumeSource),
  persistentVolumeClaim: pointer(10, PersistentVolumeClaimVolumeSource),
  rbd: pointer(11, RBDVolumeSource),
  flexVolume: pointer(12, FlexVolumeSource),
  cinder: pointer(13, CinderVolumeSource),
  cephfs: pointer(14, CephFSVolumeSource),
  flocker: pointer(15, FlockerVolumeSource),
  downwardAPI: pointer(16, DownwardAPIVolumeSource),
  fc: pointer(17, FCVolumeSource),
  azureFile: pointer(18, AzureFileVolumeSource),
  configMap: pointer(19, ConfigMapVolumeSource),
  vsphereVolume: pointer(20, VsphereVirtualDiskVolumeSource),
  quobyte: pointer(21, QuobyteVolumeSource),
  azureDisk: pointer(22, AzureDiskVolumeSource),
  photonPersistentDisk: pointer(23, PhotonPersistentDiskVolumeSource),
  projected: pointer(26, ProjectedVolumeSource),
  portworxVolume: pointer(24, PortworxVolumeSource),
  scaleIO: pointer(25, ScaleIOVolumeSource),
  storageos: pointer(27, StorageOSVolumeSource),
  csi: pointer(28, CSIVolumeSource),
  ephemeral: pointer(29, EphemeralVolumeSource),
  image: pointer(30, ImageVolumeSource),
});
export type VolumeSource = Infer<typeof VolumeSource>;
