import { fillUnset, fillZero, mapField, mapItems, withField } from '../../../defaulting.ts';
import { defaultFieldRef } from '../container/container.defaults.ts';
import { defaultPullPolicy } from '../pod/image-tag.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import type { DownwardAPIVolumeFile } from './downward-api-volume-file.ts';
import type { ProjectedVolumeSource, VolumeProjection } from './projected-volume-source.ts';
import type { Volume } from './volume.ts';
import type { EphemeralVolumeSource } from './volume-source.ts';

const FILE_MODE = { defaultMode: 0o644 };
const AZURE_DISK = { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' };
const RBD = { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' };

export function defaultVolume(volume: Volume): Volume {
  // A volume has one source, looked up once; without one it is an emptyDir.
  for (const source in volume) {
    if (source !== 'name' && volume[source as keyof Volume] !== undefined) return defaultSource(volume, source as keyof Volume);
  }
  return { ...volume, emptyDir: {} };
}

function defaultSource(volume: Volume, source: keyof Volume): Volume {
  switch (source) {
    case 'hostPath':
      return mapField(volume, 'hostPath', (hostPath) => fillUnset(hostPath, { type: '' }));
    case 'secret':
      return mapField(volume, 'secret', (secret) => fillUnset(secret, FILE_MODE));
    case 'configMap':
      return mapField(volume, 'configMap', (configMap) => fillUnset(configMap, FILE_MODE));
    case 'downwardAPI':
      return mapField(volume, 'downwardAPI', (api) =>
        fillUnset(
          mapField(api, 'items', (items) => mapItems(items, defaultFile)),
          FILE_MODE,
        ),
      );
    case 'projected':
      return mapField(volume, 'projected', defaultProjected);
    case 'image':
      return mapField(volume, 'image', (image) => fillZero(image, { pullPolicy: defaultPullPolicy(image.reference) }));
    case 'ephemeral':
      return mapField(volume, 'ephemeral', defaultEphemeral);
    default:
      return defaultLegacySource(volume, source);
  }
}

function defaultLegacySource(volume: Volume, source: keyof Volume): Volume {
  switch (source) {
    case 'iscsi':
      return mapField(volume, 'iscsi', (iscsi) => fillZero(iscsi, { iscsiInterface: 'default' }));
    case 'rbd':
      return mapField(volume, 'rbd', (rbd) => fillZero(rbd, RBD));
    case 'azureDisk':
      return mapField(volume, 'azureDisk', (disk) => fillUnset(disk, AZURE_DISK));
    case 'scaleIO':
      return mapField(volume, 'scaleIO', (scaleIO) => fillZero(scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' }));
    default:
      return volume;
  }
}

function defaultFile(file: DownwardAPIVolumeFile): DownwardAPIVolumeFile {
  return mapField(file, 'fieldRef', defaultFieldRef);
}

function defaultProjected(projected: ProjectedVolumeSource): ProjectedVolumeSource {
  const sources = mapField(projected, 'sources', (items) => mapItems(items, defaultProjection));
  return fillUnset(sources, FILE_MODE);
}

function defaultProjection(projection: VolumeProjection): VolumeProjection {
  const files = mapField(projection, 'downwardAPI', (api) => mapField(api, 'items', (items) => mapItems(items, defaultFile)));
  return mapField(files, 'serviceAccountToken', (token) => fillUnset(token, { expirationSeconds: 3600 }));
}

function defaultEphemeral(ephemeral: EphemeralVolumeSource): EphemeralVolumeSource {
  return mapField(ephemeral, 'volumeClaimTemplate', (template) => {
    const spec = fillUnset(template.spec ?? {}, { volumeMode: 'Filesystem' });
    const rounded = mapField(spec, 'resources', (resources) =>
      mapField(mapField(resources, 'limits', roundResources), 'requests', roundResources),
    );
    return withField(template, 'spec', rounded);
  });
}
