import { NEWEST_RELEASE } from '#apiserver';
import { type BuildInfo, buildInfo } from '#base';
import type { GateReleases } from '#machinery';

/** The content of `/version`: the compatible Kubernetes release, and our build. */
export function versionInfo(
  { emulated, minCompatibility }: GateReleases = NEWEST_RELEASE,
  { commit, treeState, date }: BuildInfo = buildInfo(),
): Readonly<Record<string, string>> {
  return {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: emulated.split('.')[1]!,
    minCompatibilityMajor: '1',
    minCompatibilityMinor: minCompatibility.split('.')[1]!,
    gitVersion: 'v1.36.4+sampan',
    gitCommit: commit,
    gitTreeState: treeState,
    buildDate: date,
    goVersion: 'none',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
