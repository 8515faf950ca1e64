import { core } from '#api';
import { lookupTable } from '#base';

/** Volumes that refer to no API object. */
const PLAIN_VOLUMES: ReadonlySet<string> = new Set([
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
]);

const VOLUMES = lookupTable<string>({
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
});

const PROJECTIONS = lookupTable<string>({
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
});

/** The first API object that the pod refers to, for the error message. A mirror pod must have none: a node could use it to gain access. */
export function apiReference(pod: core.Pod): string | undefined {
  const { spec } = pod;
  if (spec?.serviceAccountName) return 'serviceaccounts';
  if (core.podSecretNames(pod).length > 0) return 'secrets';
  if (core.podConfigMapNames(pod).length > 0) return 'configmaps';
  if (spec?.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec?.volumes ?? []) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function volumeReference(volume: core.Volume): string | undefined {
  const type = Object.keys(volume).find((key) => key !== 'name') ?? '';
  if (PLAIN_VOLUMES.has(type)) return undefined;
  if (volume.projected === undefined) return VOLUMES[type] ?? `an unknown type of volume (${volume.name})`;
  for (const source of volume.projected.sources ?? []) {
    const kind = Object.keys(source)[0] ?? '';
    if (kind !== 'downwardAPI') return PROJECTIONS[kind] ?? `an unknown source of projected volume ${volume.name}`;
  }
  return undefined;
}
