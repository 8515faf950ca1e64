import { CLIENT_GO, type ClientGoFigures, runClientGoLoad } from './client-go-load.ts';
import { type Benchmark, SharedRuns } from './harness.ts';
import { startSampan, startTrivialHttp2Server, temporaryDirectory } from './server-process.ts';

// The whole load on a cluster without nodes (embedded durable store), and on a server that sends protobuf of the same length over HTTP/2
// without any work.
const ours = new SharedRuns(async () => {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', '0']);
  return await runClientGoLoad(server);
});
const theirs = new SharedRuns(async () => {
  const { answers } = await ours.run();
  await using server = await startTrivialHttp2Server(answers);
  return await runClientGoLoad(server);
});

interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly of: (run: ClientGoFigures) => number;
}

const { pods, workers, informers, slowInformers } = CLIENT_GO;
const FIGURES: readonly Figure[] = [
  { what: `create ${pods} pods, ${workers} at a time`, unit: 'pods/s', better: 'higher', of: (run) => run.create.perSecond },
  { what: `get ${pods} pods, ${workers} at a time`, unit: 'pods/s', better: 'higher', of: (run) => run.get.perSecond },
  { what: `list ${pods} pods, median`, unit: 'ms', better: 'lower', of: (run) => run.list.medianMs },
  { what: `list a page of 500 of ${pods} pods, 4 at a time`, unit: 'lists/s', better: 'higher', of: (run) => run.pages.perSecond },
  { what: `list ${pods} pods as JSON with gzip, median`, unit: 'ms', better: 'lower', of: (run) => run.gzip.medianMs },
  {
    what: `${informers} informers of ${pods} pods synced, beside ${slowInformers} that read slowly`,
    unit: 'ms',
    better: 'lower',
    of: (run) => run.informersMs,
  },
  { what: `memory that ${informers} informers take`, unit: 'MiB', better: 'lower', of: (run) => Math.max(1, run.informersMiB) },
  {
    what: `patch the status of pods with ${informers} informers watching`,
    unit: 'pods/s',
    better: 'higher',
    of: (run) => run.patchStatus.perSecond,
  },
  { what: `delete ${pods} pods, ${workers} at a time`, unit: 'pods/s', better: 'higher', of: (run) => run.delete.perSecond },
  { what: 'CPU time of the server for the whole run', unit: 's', better: 'lower', of: (run) => run.cpuSeconds },
];

export const benchmarks: Benchmark[] = FIGURES.map(({ what, unit, better, of }) => ({
  kind: 'macro',
  name: `api, client-go: ${what}`,
  unit,
  better,
  rounds: 1,
  baseline: theirs.figure('fixed bytes', of),
  subject: ours.figure('sampan, durable', of),
}));
