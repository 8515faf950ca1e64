/** A version as semver.org has it: `1.36.0-alpha.1`. */
export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
}

// bounded: identifiers are separated by dots, which they cannot contain.
const FORM = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-.]+))?(?:\+([0-9A-Za-z-.]+))?$/;

export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const [, major, minor, patch, prerelease, build] = FORM.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  const identifiers = prerelease?.split('.') ?? [];
  if (identifiers.some((id) => id === '' || /^0\d+$/.test(id)) || build?.split('.').includes('')) return undefined;
  return { numbers: [major, minor, patch].map(BigInt), prerelease: identifiers };
}

/** Negative if `a` precedes `b`. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [i, number] of a.numbers.entries()) if (number !== b.numbers[i]) return number < b.numbers[i]! ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (const [i, id] of a.prerelease.entries()) {
    const other = b.prerelease[i];
    if (other === undefined) return 1;
    if (id !== other) return compareIdentifiers(id, other);
  }
  return a.prerelease.length - b.prerelease.length;
}

/** Numbers come before words. */
function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  if (aIsNumber) return BigInt(a) < BigInt(b) ? -1 : 1;
  return a < b ? -1 : 1;
}
