/** Commit, tree state and date of the build. */
export interface BuildInfo {
  /** Empty when it is not known. */
  readonly commit: string;
  /** Whether the sources are those of the commit. */
  readonly treeState: 'clean' | 'dirty' | '';
  /** RFC 3339. */
  readonly date: string;
}

/** A BuildInfo as JSON, put here by scripts/build.mjs: the bundler handles plain texts best. */
declare const SAMPAN_BUILD: string | undefined;

/** As upstream has it where nothing was stamped, such as when the sources run as they are. */
const UNSTAMPED: BuildInfo = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };

export function buildInfo(): BuildInfo {
  return typeof SAMPAN_BUILD === 'undefined' ? UNSTAMPED : (JSON.parse(SAMPAN_BUILD) as BuildInfo);
}
