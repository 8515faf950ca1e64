import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadFigures, PODS, runLoad } from './api-load.ts';
import { type Benchmark, SharedRuns } from './harness.ts';
import { startSampan, temporaryDirectory } from './server-process.ts';

// The whole load on a cluster without nodes: without an audit log, and with every request recorded at level Metadata.
const plain = new SharedRuns(async () => {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', '0']);
  return await runLoad(server);
});

const audited = new SharedRuns(async () => {
  using directory = temporaryDirectory();
  const policy = join(directory.path, 'policy.yaml');
  writeFileSync(policy, '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}');
  const flags = [`audit-policy-file=${policy}`, `audit-log-path=${join(directory.path, 'audit.log')}`];
  await using server = await startSampan(directory.path, ['--nodes', '0', ...flags.flatMap((flag) => ['--apiserver-arg', flag])]);
  return await runLoad(server);
});

interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly of: (run: LoadFigures) => number;
}

const FIGURES: readonly Figure[] = [
  { what: `create ${PODS} pods`, unit: 'pods/s', better: 'higher', of: (run) => run.create.perSecond },
  { what: `get ${PODS} pods`, unit: 'pods/s', better: 'higher', of: (run) => run.get.perSecond },
  { what: 'CPU time of the server for the whole run', unit: 's', better: 'lower', of: (run) => run.cpuSeconds },
];

export const benchmarks: Benchmark[] = FIGURES.map(({ what, unit, better, of }) => ({
  kind: 'macro',
  name: `audit: ${what}, every request at level Metadata`,
  unit,
  better,
  rounds: 2,
  baseline: plain.figure('no audit', of),
  subject: audited.figure('audited', of),
}));
