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
  named,
  nullable,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../../schema.ts';
import { NodeSelector } from '../node-selector/node-selector.ts';
import { ObjectReference } from '../reference/object-reference.ts';
import { AWSElasticBlockStoreVolumeSource } from '../volume/aws-elastic-block-store-volume-source.ts';
import { AzureDiskVolumeSource } from '../volume/azure-disk-volume-source.ts';
import { FCVolumeSource } from '../volume/fc-volume-source.ts';
import { FlockerVolumeSource } from '../volume/flocker-volume-source.ts';
import { GCEPersistentDiskVolumeSource } from '../volume/gce-persistent-disk-volume-source.ts';
import { HostPathVolumeSource } from '../volume/host-path-volume-source.ts';
import { NFSVolumeSource } from '../volume/nfs-volume-source.ts';
import { PhotonPersistentDiskVolumeSource } from '../volume/photon-persistent-disk-volume-source.ts';
import { PortworxVolumeSource } from '../volume/portworx-volume-source.ts';
import { QuobyteVolumeSource } from '../volume/quobyte-volume-source.ts';
import { VsphereVirtualDiskVolumeSource } from '../volume/vsphere-virtual-disk-volume-source.ts';

export const GlusterfsPersistentVolumeSource = object('io.k8s.api.core.v1.GlusterfsPersistentVolumeSource', 'A Gluster volume.', {
  endpoints: required(1, string, 'The Endpoints that list the servers.'),
  path: required(2, string, 'The volume.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  endpointsNamespace: pointer(4, string, 'The namespace of the Endpoints.'),
});
export type GlusterfsPersistentVolumeSource = Infer<typeof GlusterfsPersistentVolumeSource>;

export const SecretReference = atomic(
  object('io.k8s.api.core.v1.SecretReference', 'A Secret, in any namespace.', {
    name: field(1, string, 'The name.'),
    namespace: field(2, string, 'The namespace.'),
  }),
);
export type SecretReference = Infer<typeof SecretReference>;

export const RBDPersistentVolumeSource = object('io.k8s.api.core.v1.RBDPersistentVolumeSource', 'A Ceph block device.', {
  monitors: required(1, listOf(string), 'The addresses of the monitors.'),
  image: required(2, string, 'The image.'),
  fsType: field(3, string, 'The file system, such as ext4.'),
  pool: field(4, string, 'The pool; rbd by default.', { default: 'rbd' }),
  user: field(5, string, 'The user; admin by default.', { default: 'admin' }),
  keyring: field(6, string, 'The file with keys; /etc/ceph/keyring by default.', { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, SecretReference, 'The Secret with credentials.'),
  readOnly: field(8, bool, 'Whether it is mounted read-only.'),
});
export type RBDPersistentVolumeSource = Infer<typeof RBDPersistentVolumeSource>;

export const ISCSIPersistentVolumeSource = object('io.k8s.api.core.v1.ISCSIPersistentVolumeSource', 'An iSCSI disk.', {
  targetPortal: required(1, string, 'The portal, as address or address:port.'),
  iqn: required(2, string, 'The qualified name of the target.'),
  lun: required(3, int32, 'The number of the disk.'),
  iscsiInterface: field(4, string, 'The interface; default (tcp) by default.', { default: 'default' }),
  fsType: field(5, string, 'The file system, such as ext4.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
  portals: field(7, listOf(string), 'Further portals.'),
  chapAuthDiscovery: field(8, bool, 'Whether discovery uses CHAP.'),
  chapAuthSession: field(11, bool, 'Whether sessions use CHAP.'),
  secretRef: pointer(10, SecretReference, 'The Secret with credentials.'),
  initiatorName: pointer(12, string, 'The name of the initiator.'),
});
export type ISCSIPersistentVolumeSource = Infer<typeof ISCSIPersistentVolumeSource>;

export const CinderPersistentVolumeSource = object('io.k8s.api.core.v1.CinderPersistentVolumeSource', 'An OpenStack volume.', {
  volumeID: required(1, string, 'The volume.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(4, SecretReference, 'The Secret with credentials.'),
});
export type CinderPersistentVolumeSource = Infer<typeof CinderPersistentVolumeSource>;

export const CephFSPersistentVolumeSource = object('io.k8s.api.core.v1.CephFSPersistentVolumeSource', 'A Ceph file system.', {
  monitors: required(1, listOf(string), 'The addresses of the monitors.'),
  path: field(2, string, 'The directory to mount; / by default.'),
  user: field(3, string, 'The user; admin by default.'),
  secretFile: field(4, string, 'The file with the key of the user.'),
  secretRef: pointer(5, SecretReference, 'The Secret with credentials.'),
  readOnly: field(6, bool, 'Whether it is mounted read-only.'),
});
export type CephFSPersistentVolumeSource = Infer<typeof CephFSPersistentVolumeSource>;

export const FlexPersistentVolumeSource = object('io.k8s.api.core.v1.FlexPersistentVolumeSource', 'A volume of an exec-based driver.', {
  driver: required(1, string, 'The driver.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  secretRef: pointer(3, SecretReference, 'The Secret with credentials.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  options: field(5, mapOf(string), 'Options passed to the driver.'),
});
export type FlexPersistentVolumeSource = Infer<typeof FlexPersistentVolumeSource>;

export const AzureFilePersistentVolumeSource = object('io.k8s.api.core.v1.AzureFilePersistentVolumeSource', 'An Azure file share.', {
  secretName: required(1, string, 'The Secret with account and key.'),
  shareName: required(2, string, 'The share.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  secretNamespace: nullable(4, string, 'The namespace of the Secret.'),
});
export type AzureFilePersistentVolumeSource = Infer<typeof AzureFilePersistentVolumeSource>;

export const ScaleIOPersistentVolumeSource = object('io.k8s.api.core.v1.ScaleIOPersistentVolumeSource', 'No longer supported.', {
  gateway: required(1, string, 'The gateway of the API.'),
  system: required(2, string, 'The storage system.'),
  secretRef: nullable(3, SecretReference, 'The Secret with credentials.', { required: true }),
  sslEnabled: field(4, bool, 'Whether TLS is used.'),
  protectionDomain: field(5, string, 'The protection domain.'),
  storagePool: field(6, string, 'The storage pool.'),
  storageMode: field(7, string, 'ThickProvisioned or ThinProvisioned.', { default: 'ThinProvisioned' }),
  volumeName: field(8, string, 'The volume.'),
  fsType: field(9, string, 'The file system, such as ext4.', { default: 'xfs' }),
  readOnly: field(10, bool, 'Whether it is mounted read-only.'),
});
export type ScaleIOPersistentVolumeSource = Infer<typeof ScaleIOPersistentVolumeSource>;

export const LocalVolumeSource = object('io.k8s.api.core.v1.LocalVolumeSource', 'A disk or directory of one node.', {
  path: required(1, string, 'The path on the node.'),
  fsType: pointer(2, string, 'The file system, such as ext4.'),
});
export type LocalVolumeSource = Infer<typeof LocalVolumeSource>;

export const StorageOSPersistentVolumeSource = object('io.k8s.api.core.v1.StorageOSPersistentVolumeSource', 'No longer supported.', {
  volumeName: field(1, string, 'The volume.'),
  volumeNamespace: field(2, string, 'The namespace of the volume.'),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  secretRef: pointer(5, ObjectReference, 'The Secret with credentials.'),
});
export type StorageOSPersistentVolumeSource = Infer<typeof StorageOSPersistentVolumeSource>;

export const CSIPersistentVolumeSource = object('io.k8s.api.core.v1.CSIPersistentVolumeSource', 'A volume of a CSI driver.', {
  driver: required(1, string, 'The driver.'),
  volumeHandle: required(2, string, 'The volume, as the driver calls it. Cannot be changed.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  fsType: field(4, string, 'The file system, such as ext4.'),
  volumeAttributes: field(5, mapOf(string), 'Options passed to the driver.'),
  controllerPublishSecretRef: pointer(6, SecretReference, 'The Secret for attaching.'),
  nodeStageSecretRef: pointer(7, SecretReference, 'The Secret for making the volume ready on a node.'),
  nodePublishSecretRef: pointer(8, SecretReference, 'The Secret for mounting.'),
  controllerExpandSecretRef: pointer(9, SecretReference, 'The Secret for enlarging.'),
  nodeExpandSecretRef: pointer(10, SecretReference, 'The Secret for enlarging on a node.'),
});
export type CSIPersistentVolumeSource = Infer<typeof CSIPersistentVolumeSource>;

export const PersistentVolumeSource = object(
  'io.k8s.api.core.v1.PersistentVolumeSource',
  "Where a persistent volume's storage comes from. Exactly one member is set.",
  {
    gcePersistentDisk: pointer(1, GCEPersistentDiskVolumeSource, 'A disk of Google Compute Engine. Deprecated: use CSI.'),
    awsElasticBlockStore: pointer(2, AWSElasticBlockStoreVolumeSource, 'A disk of AWS. Deprecated: use CSI.'),
    hostPath: pointer(3, HostPathVolumeSource, 'A directory of the node, for tests on a single node.'),
    glusterfs: pointer(4, GlusterfsPersistentVolumeSource, 'A Gluster volume. Deprecated.'),
    nfs: pointer(5, NFSVolumeSource, 'A directory of an NFS server.'),
    rbd: pointer(6, RBDPersistentVolumeSource, 'A Ceph block device. Deprecated.'),
    iscsi: pointer(7, ISCSIPersistentVolumeSource, 'An iSCSI disk.'),
    cinder: pointer(8, CinderPersistentVolumeSource, 'An OpenStack volume. Deprecated: use CSI.'),
    cephfs: pointer(9, CephFSPersistentVolumeSource, 'A Ceph file system. Deprecated.'),
    fc: pointer(10, FCVolumeSource, 'A Fibre Channel disk.'),
    flocker: pointer(11, FlockerVolumeSource, 'No longer supported.'),
    flexVolume: pointer(12, FlexPersistentVolumeSource, 'A volume of an exec-based driver. Deprecated: use CSI.'),
    azureFile: pointer(13, AzureFilePersistentVolumeSource, 'An Azure file share. Deprecated: use CSI.'),
    vsphereVolume: pointer(14, VsphereVirtualDiskVolumeSource, 'A vSphere disk. Deprecated: use CSI.'),
    quobyte: pointer(15, QuobyteVolumeSource, 'No longer supported.'),
    azureDisk: pointer(16, AzureDiskVolumeSource, 'An Azure disk. Deprecated: use CSI.'),
    photonPersistentDisk: pointer(17, PhotonPersistentDiskVolumeSource, 'No longer supported.'),
    portworxVolume: pointer(18, PortworxVolumeSource, 'A Portworx volume. Deprecated: use CSI.'),
    scaleIO: pointer(19, ScaleIOPersistentVolumeSource, 'No longer supported.'),
    local: pointer(20, LocalVolumeSource, 'A disk or directory of one node.'),
    storageos: pointer(21, StorageOSPersistentVolumeSource, 'No longer supported.'),
    csi: pointer(22, CSIPersistentVolumeSource, 'A volume of a CSI driver.'),
  },
);
export type PersistentVolumeSource = Infer<typeof PersistentVolumeSource>;

export const VolumeNodeAffinity = object('io.k8s.api.core.v1.VolumeNodeAffinity', 'From which nodes a volume can be reached.', {
  required: pointer(1, NodeSelector, 'What the nodes must match.'),
});
export type VolumeNodeAffinity = Infer<typeof VolumeNodeAffinity>;

export const PersistentVolumeSpec = object('io.k8s.api.core.v1.PersistentVolumeSpec', "The volume's source, capacity and claim.", {
  capacity: field(1, mapOf(quantity), 'What the volume holds.'),
  ...inlined(2, PersistentVolumeSource),
  accessModes: field(3, listOf(named('v1.PersistentVolumeAccessMode')), 'How the volume may be mounted.'),
  claimRef: pointer(4, granular(ObjectReference), 'The claim that the volume is bound to.'),
  persistentVolumeReclaimPolicy: field(
    5,
    named('v1.PersistentVolumeReclaimPolicy'),
    'What happens when the claim is deleted: Retain, Delete or Recycle.',
  ),
  storageClassName: field(6, string, 'The class that the volume belongs to.'),
  mountOptions: field(7, listOf(string), 'Options for mounting, such as ro or soft.'),
  volumeMode: pointer(8, named('v1.PersistentVolumeMode'), 'Filesystem, or Block for a raw device.'),
  nodeAffinity: pointer(9, VolumeNodeAffinity, 'From which nodes the volume can be reached.'),
  volumeAttributesClassName: pointer(10, string, 'The VolumeAttributesClass that the volume has.'),
});
export type PersistentVolumeSpec = Infer<typeof PersistentVolumeSpec>;
