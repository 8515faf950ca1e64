/** What `/version` answers: the Kubernetes release whose API and behaviour this is. */
export function versionInfo(): Readonly<Record<string, string>> {
  return {
    major: '1',
    minor: '36',
    gitVersion: 'v1.36.4+sampan',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
