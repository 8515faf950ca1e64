import { apiVersionOf } from '#machinery';
import type { Kind } from './schema.ts';

/** The Kubernetes release whose API this is. */
export const RELEASE = '1.36';

/** Negative if `a` is older than `b`. Releases are written as `1.36`. */
export function compareReleases(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number);
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number);
  return aMajor - bMajor || aMinor - bMinor;
}

/** Whether the kind's version exists in a release. */
export function isInRelease({ lifecycle }: Pick<Kind<unknown>, 'lifecycle'>, release: string): boolean {
  if (lifecycle === undefined) return true;
  return compareReleases(lifecycle.introduced, release) <= 0 && compareReleases(release, lifecycle.removed) < 0;
}

/** The deprecation warning; undefined for versions that are not deprecated. */
export function deprecationWarning({ group, version, kind, lifecycle }: Kind<unknown>, release: string): string | undefined {
  if (lifecycle === undefined || compareReleases(lifecycle.deprecated, release) > 0) return undefined;
  const { deprecated, removed, replacement } = lifecycle;
  const instead = replacement === undefined ? '' : `; use ${apiVersionOf({ group, version: replacement })} ${kind}`;
  return `${apiVersionOf({ group, version })} ${kind} is deprecated in v${deprecated}+, unavailable in v${removed}+${instead}`;
}
