/** Commit, tree state and date of the build. */
export interface BuildInfo {
  /** Empty if unknown. */
  readonly commit: string;
  /** Whether the tree had no uncommitted changes. */
  readonly treeState: 'clean' | 'dirty' | '';
  /** RFC 3339. */
  readonly date: string;
}

/** A BuildInfo as JSON, inserted by scripts/build.mjs: a plain string is easiest for the bundler. */
declare const SAMPAN_BUILD: string | undefined;

/** Upstream's values for an unstamped build. */
const UNSTAMPED: BuildInfo = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };

export function buildInfo(): BuildInfo {
  return typeof SAMPAN_BUILD === 'undefined' ? UNSTAMPED : (JSON.parse(SAMPAN_BUILD) as BuildInfo);
}
