import type { FieldReport } from '../../../field-report.ts';
import { validateFieldRef, validateResourceFieldRef } from '../container/container-env.validation.ts';
import type { DownwardAPIVolumeFile } from './downward-api-volume-file.ts';
import type { KeyToPath } from './key-to-path.ts';
import { validateNonReservedPath } from './local-path.validation.ts';
import { validatePodCertificate } from './pod-certificate-projection.validation.ts';
import type { ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeProjection } from './projected-volume-source.ts';
import type { DownwardAPIVolumeSource } from './volume-source.ts';
import { requireTexts, validateFileMode, validateKeyToPath } from './volume-source.validation.ts';

const VOLUME_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const MIN_TOKEN_SECONDS = 10 * 60;
const MAX_TOKEN_SECONDS = 2 ** 32;
const CONFLICT = 'conflicting duplicate paths';

export function validateDownwardAPI({ defaultMode, items = [] }: DownwardAPIVolumeSource, at: FieldReport): void {
  validateFileMode(defaultMode, at.child('defaultMode'));
  // Errors of files have no index, as upstream.
  for (const file of items) validateDownwardAPIFile(file, at);
}

function validateDownwardAPIFile(file: DownwardAPIVolumeFile, at: FieldReport): void {
  requireTexts(file, at, ['path']);
  validateNonReservedPath(file.path ?? '', at.child('path'));
  if (file.fieldRef) {
    validateFieldRef(file.fieldRef, at.child('fieldRef'), VOLUME_FIELDS);
    if (file.resourceFieldRef) at.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (file.resourceFieldRef) {
    validateResourceFieldRef(file.resourceFieldRef, at.child('resourceFieldRef'), { inVolume: true });
  } else {
    at.required('one of fieldRef and resourceFieldRef is required');
  }
  validateFileMode(file.mode, at.child('mode'));
}

export function validateProjected({ defaultMode, sources }: ProjectedVolumeSource, at: FieldReport): void {
  validateFileMode(defaultMode, at.child('defaultMode'));
  const paths = new Set<string>();
  sources?.forEach((source, i) => {
    validateProjection(source, at.child('sources').index(i), { volume: at, paths });
  });
}

interface ProjectionReport {
  /** The volume: conflicts between its sources are reported here. */
  readonly volume: FieldReport;
  readonly paths: Set<string>;
}

function validateProjection(source: VolumeProjection, at: FieldReport, projected: ProjectionReport): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, podCertificate } = source;
  if (secret) validateKeys(secret, at.child('secret'), projected);
  if (configMap) validateKeys(configMap, at.child('configMap'), projected);
  for (const file of downwardAPI?.items ?? []) {
    validateDownwardAPIFile(file, at.child('downwardAPI'));
    claimPath(file.path, file.path, projected);
  }
  if (serviceAccountToken) validateToken(serviceAccountToken, at.child('serviceAccountToken'), projected);
  if (podCertificate) validatePodCertificate(podCertificate, at.child('podCertificate'), (path) => claimPath(path, path, projected));
  const count = [secret, configMap, downwardAPI, serviceAccountToken, podCertificate].filter(Boolean).length;
  if (count > 1) at.forbidden('may not specify more than 1 volume type per source');
}

function validateKeys(source: { name?: string; items?: readonly KeyToPath[] }, at: FieldReport, projected: ProjectionReport): void {
  requireTexts(source, at, ['name']);
  source.items?.forEach((item, i) => {
    validateKeyToPath(item, at.child('items').index(i));
    claimPath(item.path, source.name ?? '', projected);
  });
}

function claimPath(path: string | undefined, value: string, { volume, paths }: ProjectionReport): void {
  if (!path) return;
  if (paths.has(path)) volume.invalid(value, CONFLICT);
  paths.add(path);
}

function validateToken(token: ServiceAccountTokenProjection, at: FieldReport, { volume }: ProjectionReport): void {
  const seconds = token.expirationSeconds ?? 0;
  if (seconds < MIN_TOKEN_SECONDS) at.child('expirationSeconds').invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > MAX_TOKEN_SECONDS) {
    at.child('expirationSeconds').invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  if (!token.path) volume.child('path').required();
  else validateNonReservedPath(token.path, volume.child('path'));
}
