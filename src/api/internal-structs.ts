import { lookupTable } from '#base';

/**
 * Differences between upstream's internal types, which its messages print, and the API types beyond capitalization. Only for types that appear in
 * messages.
 */
type Names = Readonly<Record<string, string>>;

const ISCSI: Names = { chapAuthDiscovery: 'DiscoveryCHAPAuth', chapAuthSession: 'SessionCHAPAuth' };
const RBD: Names = { monitors: 'CephMonitors', image: 'RBDImage', pool: 'RBDPool', user: 'RadosUser' };
const GLUSTERFS: Names = { endpoints: 'EndpointsName' };
const SCALE_IO: Names = { sslEnabled: 'SSLEnabled' };

/** By the name of the type, then by the field's name in JSON. */
export const INTERNAL_NAMES = lookupTable<Names>({
  'io.k8s.api.core.v1.ISCSIVolumeSource': ISCSI,
  'io.k8s.api.core.v1.ISCSIPersistentVolumeSource': ISCSI,
  'io.k8s.api.core.v1.RBDVolumeSource': RBD,
  'io.k8s.api.core.v1.RBDPersistentVolumeSource': RBD,
  'io.k8s.api.core.v1.GlusterfsVolumeSource': GLUSTERFS,
  'io.k8s.api.core.v1.GlusterfsPersistentVolumeSource': GLUSTERFS,
  'io.k8s.api.core.v1.ScaleIOVolumeSource': SCALE_IO,
  'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource': SCALE_IO,
  'io.k8s.api.core.v1.FCVolumeSource': { wwids: 'WWIDs' },
  'io.k8s.api.core.v1.AzureDiskVolumeSource': { diskURI: 'DataDiskURI' },
  'io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource': { pdID: 'PdID' },
  'io.k8s.api.resource.v1.NetworkDeviceData': { ips: 'IPs' },
});

const VOLUME_SOURCES = [
  ...['gcePersistentDisk', 'awsElasticBlockStore', 'hostPath', 'glusterfs', 'nfs', 'rbd', 'quobyte', 'iscsi', 'flexVolume', 'cinder'],
  ...['cephfs', 'fc', 'flocker', 'azureFile', 'vsphereVolume', 'azureDisk', 'photonPersistentDisk', 'portworxVolume', 'scaleIO'],
  ...['local', 'storageos', 'csi'],
];

/** The order of grouped fields; others keep their position. */
export const INTERNAL_ORDER = lookupTable<readonly string[]>({
  'io.k8s.api.core.v1.PersistentVolumeSource': VOLUME_SOURCES,
  'io.k8s.api.core.v1.PersistentVolumeSpec': VOLUME_SOURCES,
});

const ROLLING_UPDATE = ['maxUnavailable', 'maxSurge'];

/** Fields that are optional in the API and plain values internally, so that they are printed as zero. */
export const INTERNAL_VALUES = lookupTable<readonly string[]>({
  'io.k8s.api.apps.v1.RollingUpdateDeployment': ROLLING_UPDATE,
  'io.k8s.api.apps.v1.RollingUpdateDaemonSet': ROLLING_UPDATE,
  'io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy': ['partition'],
});
