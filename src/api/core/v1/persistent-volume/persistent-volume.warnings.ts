import { pushAll } from '#base';
import { Path } from '#machinery';
import { nodeSelectorTermWarnings } from '../node/node-label.warnings.ts';
import type { PersistentVolume } from './persistent-volume.ts';

const ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
];
const REMOVED_SOURCES = ['cephfs', 'photonPersistentDisk', 'scaleIO', 'storageos', 'glusterfs', 'rbd'] as const;
const WHEN: Readonly<Record<(typeof REMOVED_SOURCES)[number], string>> = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

export function persistentVolumeWarnings({ metadata, spec }: PersistentVolume): readonly string[] {
  const warnings = ANNOTATIONS.flatMap(([key, message]) =>
    metadata.annotations?.[key] === undefined ? [] : [`${Path.of('metadata', 'annotations').key(key)}: ${message}`],
  );
  if (spec?.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  const terms = Path.of('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  for (const [i, term] of (spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    pushAll(warnings, nodeSelectorTermWarnings(term, terms.index(i)));
  }
  const removed = REMOVED_SOURCES.filter((source) => spec?.[source] !== undefined);
  return [...warnings, ...removed.map((source) => `spec.${source === 'storageos' ? 'storageOS' : source}: ${WHEN[source]}`)];
}
