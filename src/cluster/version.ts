import { type BuildInfo, buildInfo } from '#base';

/** What `/version` answers: the Kubernetes release whose API and behaviour this is, and which build of ours. */
export function versionInfo({ commit, treeState, date }: BuildInfo = buildInfo()): Readonly<Record<string, string>> {
  return {
    major: '1',
    minor: '36',
    emulationMajor: '1',
    emulationMinor: '36',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion: 'v1.36.4+sampan',
    gitCommit: commit,
    gitTreeState: treeState,
    buildDate: date,
    goVersion: 'none',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
