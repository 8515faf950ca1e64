import { goQuote } from '#machinery';
import { type MappedPath, overlappingEntries } from './overlapping-paths.ts';
import type { VolumeProjection } from './projected-volume-source.ts';
import type { Volume } from './volume.ts';

/** More than the 4 KiB limit of warnings in a response. */
const MAX_WARNINGS_LENGTH = 32 * 1024;

/** Files of one volume that would overwrite each other. */
export function overlappingPathWarnings(volumes: readonly Volume[]): readonly string[] {
  return volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => [
    ...(configMap ? overlaps(pathsOf(configMap.items), `volume ${goQuote(name)} (ConfigMap ${goQuote(configMap.name ?? '')})`) : []),
    ...(secret ? overlaps(pathsOf(secret.items), `volume ${goQuote(name)} (Secret ${goQuote(secret.secretName ?? '')})`) : []),
    ...(downwardAPI ? overlaps(pathsOf(downwardAPI.items), `volume ${goQuote(name)} (DownwardAPI)`) : []),
    ...(projected ? projectedOverlaps(name, projected.sources ?? []) : []),
  ]);
}

function pathsOf(items: readonly { readonly path: string }[] = [], source = ''): readonly MappedPath[] {
  return items.map(({ path }) => ({ path, source }));
}

function projectedOverlaps(name: string, sources: readonly VolumeProjection[]): readonly string[] {
  const empty = sources.filter((source) => Object.values(source).every((value) => value === undefined));
  const notes = empty.map(() => `volume ${goQuote(name)} (Projected) has no sources provided`);
  return [...notes, ...overlaps(sources.flatMap(projectedPaths), `volume ${goQuote(name)} (Projected)`)];
}

function projectedPaths({ configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection): readonly MappedPath[] {
  if (configMap?.items) return pathsOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`);
  if (secret?.items) return pathsOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`);
  if (downwardAPI?.items) return pathsOf(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? [{ path: serviceAccountToken.path ?? '', source: 'ServiceAccountToken' }] : [];
}

function overlaps(paths: readonly MappedPath[], subject: string): readonly string[] {
  const warnings = new Set<string>();
  let length = 0;
  for (const { entry, other } of overlappingEntries(paths)) {
    const warning = `${subject}: overlapping paths: ${pathText(entry)} with ${pathText(other)}`;
    warnings.add(warning);
    length += warning.length;
    if (length > MAX_WARNINGS_LENGTH) break;
  }
  return [...warnings];
}

function pathText({ path, source }: MappedPath): string {
  return source ? `${goQuote(path)} (${source})` : goQuote(path);
}
