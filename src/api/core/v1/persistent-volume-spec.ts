import {
  atomic,
  bool,
  field,
  granular,
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
import { FCVolumeSource } from './fc-volume-source.ts';
import { FlockerVolumeSource } from './flocker-volume-source.ts';
import { GCEPersistentDiskVolumeSource } from './gce-persistent-disk-volume-source.ts';
import { HostPathVolumeSource } from './host-path-volume-source.ts';
import { NFSVolumeSource } from './nfs-volume-source.ts';
import { NodeSelector } from './node-selector.ts';
import { ObjectReference } from './object-reference.ts';
import { PhotonPersistentDiskVolumeSource } from './photon-persistent-disk-volume-source.ts';
import { PortworxVolumeSource } from './portworx-volume-source.ts';
import { QuobyteVolumeSource } from './quobyte-volume-source.ts';
import { VsphereVirtualDiskVolumeSource } from './vsphere-virtual-disk-volume-source.ts';

export const GlusterfsPersistentVolumeSource = object('io.k8s.api.core.v1.GlusterfsPersistentVolumeSource', '', {
  endpoints: required(1, string),
  path: required(2, string),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  endpointsNamespace: pointer(4, string),
});
export type GlusterfsPersistentVolumeSource = Infer<typeof GlusterfsPersistentVolumeSource>;

export const SecretReference = atomic(
  object('io.k8s.api.core.v1.SecretReference', '', {
    name: field(1, string, 'The name.'),
    namespace: field(2, string, 'The namespace.'),
  }),
);
export type SecretReference = Infer<typeof SecretReference>;

export const RBDPersistentVolumeSource = object('io.k8s.api.core.v1.RBDPersistentVolumeSource', '', {
  monitors: required(1, listOf(string)),
  image: required(2, string),
  fsType: field(3, string, 'The file system, such as ext4.'),
  pool: field(4, string, '', { default: 'rbd' }),
  user: field(5, string, '', { default: 'admin' }),
  keyring: field(6, string, '', { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, SecretReference, 'The Secret with credentials.'),
  readOnly: field(8, bool, 'Whether it is mounted read-only.'),
});
export type RBDPersistentVolumeSource = Infer<typeof RBDPersistentVolumeSource>;

export const ISCSIPersistentVolumeSource = object('io.k8s.api.core.v1.ISCSIPersistentVolumeSource', '', {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: field(4, string, '', { default: 'default' }),
  fsType: field(5, string, 'The file system, such as ext4.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
  portals: field(7, listOf(string)),
  chapAuthDiscovery: field(8, bool),
  chapAuthSession: field(11, bool),
  secretRef: pointer(10, SecretReference, 'The Secret with credentials.'),
  initiatorName: pointer(12, string),
});
export type ISCSIPersistentVolumeSource = Infer<typeof ISCSIPersistentVolumeSource>;

export const CinderPersistentVolumeSource = object('io.k8s.api.core.v1.CinderPersistentVolumeSource', '', {
  volumeID: required(1, string),
  fsType: field(2, string, 'The file system, such as ext4.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(4, SecretReference, 'The Secret with credentials.'),
});
export type CinderPersistentVolumeSource = Infer<typeof CinderPersistentVolumeSource>;

export const CephFSPersistentVolumeSource = object('io.k8s.api.core.v1.CephFSPersistentVolumeSource', '', {
  monitors: required(1, listOf(string)),
  path: field(2, string),
  user: field(3, string),
  secretFile: field(4, string),
  secretRef: pointer(5, SecretReference, 'The Secret with credentials.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
});
export type CephFSPersistentVolumeSource = Infer<typeof CephFSPersistentVolumeSource>;

export const FlexPersistentVolumeSource = object('io.k8s.api.core.v1.FlexPersistentVolumeSource', '', {
  driver: required(1, string, 'The driver.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  secretRef: pointer(3, SecretReference, 'The Secret with credentials.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  options: field(5, mapOf(string)),
});
export type FlexPersistentVolumeSource = Infer<typeof FlexPersistentVolumeSource>;

export const AzureFilePersistentVolumeSource = object('io.k8s.api.core.v1.AzureFilePersistentVolumeSource', '', {
  secretName: required(1, string),
  shareName: required(2, string),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretNamespace: nullable(4, string),
});
export type AzureFilePersistentVolumeSource = Infer<typeof AzureFilePersistentVolumeSource>;

export const ScaleIOPersistentVolumeSource = object('io.k8s.api.core.v1.ScaleIOPersistentVolumeSource', '', {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: nullable(3, SecretReference, 'The Secret with credentials.', { required: true }),
  sslEnabled: field(4, bool),
  protectionDomain: field(5, string),
  storagePool: field(6, string),
  storageMode: field(7, string, '', { default: 'ThinProvisioned' }),
  volumeName: field(8, string),
  fsType: field(9, string, 'The file system, such as ext4.', { default: 'xfs' }),
  readOnly: field(10, bool, 'Whether it is mounted read-only.'),
});
export type ScaleIOPersistentVolumeSource = Infer<typeof ScaleIOPersistentVolumeSource>;

export const LocalVolumeSource = object('io.k8s.api.core.v1.LocalVolumeSource', '', {
  path: required(1, string),
  fsType: pointer(2, string, 'The file system, such as ext4.'),
});
export type LocalVolumeSource = Infer<typeof LocalVolumeSource>;

export const StorageOSPersistentVolumeSource = object('io.k8s.api.core.v1.StorageOSPersistentVolumeSource', '', {
  volumeName: field(1, string),
  volumeNamespace: field(2, string),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(5, ObjectReference, 'The Secret with credentials.'),
});
export type StorageOSPersistentVolumeSource = Infer<typeof StorageOSPersistentVolumeSource>;

export const CSIPersistentVolumeSource = object('io.k8s.api.core.v1.CSIPersistentVolumeSource', '', {
  driver: required(1, string, 'The driver.'),
  volumeHandle: required(2, string),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  fsType: field(4, string, 'The file system, such as ext4.'),
  volumeAttributes: field(5, mapOf(string)),
  controllerPublishSecretRef: pointer(6, SecretReference),
  nodeStageSecretRef: pointer(7, SecretReference),
  nodePublishSecretRef: pointer(8, SecretReference),
  controllerExpandSecretRef: pointer(9, SecretReference),
  nodeExpandSecretRef: pointer(10, SecretReference),
});
export type CSIPersistentVolumeSource = Infer<typeof CSIPersistentVolumeSource>;

export const PersistentVolumeSource = object(
  'io.k8s.api.core.v1.PersistentVolumeSource',
  "Where a persistent volume's storage comes from. Exactly one member is set.",
  {
    gcePersistentDisk: pointer(1, GCEPersistentDiskVolumeSource),
    awsElasticBlockStore: pointer(2, AWSElasticBlockStoreVolumeSource),
    hostPath: pointer(3, HostPathVolumeSource),
    glusterfs: pointer(4, GlusterfsPersistentVolumeSource),
    nfs: pointer(5, NFSVolumeSource),
    rbd: pointer(6, RBDPersistentVolumeSource),
    iscsi: pointer(7, ISCSIPersistentVolumeSource),
    cinder: pointer(8, CinderPersistentVolumeSource),
    cephfs: pointer(9, CephFSPersistentVolumeSource),
    fc: pointer(10, FCVolumeSource),
    flocker: pointer(11, FlockerVolumeSource),
    flexVolume: pointer(12, FlexPersistentVolumeSource),
    azureFile: pointer(13, AzureFilePersistentVolumeSource),
    vsphereVolume: pointer(14, VsphereVirtualDiskVolumeSource),
    quobyte: pointer(15, QuobyteVolumeSource),
    azureDisk: pointer(16, AzureDiskVolumeSource),
    photonPersistentDisk: pointer(17, PhotonPersistentDiskVolumeSource),
    portworxVolume: pointer(18, PortworxVolumeSource),
    scaleIO: pointer(19, ScaleIOPersistentVolumeSource),
    local: pointer(20, LocalVolumeSource),
    storageos: pointer(21, StorageOSPersistentVolumeSource),
    csi: pointer(22, CSIPersistentVolumeSource),
  },
);
export type PersistentVolumeSource = Infer<typeof PersistentVolumeSource>;

export const VolumeNodeAffinity = object('io.k8s.api.core.v1.VolumeNodeAffinity', '', {
  required: pointer(1, NodeSelector),
});
export type VolumeNodeAffinity = Infer<typeof VolumeNodeAffinity>;

export const PersistentVolumeSpec = object('io.k8s.api.core.v1.PersistentVolumeSpec', 'What a volume is and who may use it.', {
  capacity: field(1, mapOf(quantity), 'What the volume holds.'),
  ...inlined(2, PersistentVolumeSource),
  accessModes: field(3, listOf(string), 'How the volume may be mounted.'),
  claimRef: pointer(4, granular(ObjectReference), 'The claim that the volume is bound to.'),
  persistentVolumeReclaimPolicy: field(5, string, 'What happens when the claim is gone: Retain, Delete or Recycle.'),
  storageClassName: field(6, string, 'The class that the volume belongs to.'),
  mountOptions: field(7, listOf(string), 'Options for mounting, such as ro or soft.'),
  volumeMode: pointer(8, string, 'Filesystem, or Block for a raw device.'),
  nodeAffinity: pointer(9, VolumeNodeAffinity, 'From which nodes the volume can be reached.'),
  volumeAttributesClassName: pointer(10, string, 'The VolumeAttributesClass that the volume has.'),
});
export type PersistentVolumeSpec = Infer<typeof PersistentVolumeSpec>;
