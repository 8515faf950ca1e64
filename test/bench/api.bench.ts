import { CONCURRENCY, type LoadFigures, PODS, runLoad, UPDATES, WATCHERS } from './api-load.ts';
import { type Benchmark, SharedRuns } from './harness.ts';
import { startBareServer, startSampan, startTrivialServer, temporaryDirectory } from './server-process.ts';

// The whole load on a cluster without nodes (embedded durable store), on a server that sends the same bytes without any work, and on one
// that does the minimum of a durable server. All figures are of these three runs.
const ours = new SharedRuns(async () => {
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--nodes', '0']);
  return await runLoad(server);
});
const theirs = new SharedRuns(async () => {
  const { answers } = await ours.run();
  await using server = await startTrivialServer(answers);
  return await runLoad(server);
});

const least = new SharedRuns(async () => {
  const { answers } = await ours.run();
  using directory = temporaryDirectory();
  await using server = await startBareServer(directory.path, answers);
  return await runLoad(server);
});

interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly of: (run: LoadFigures) => number;
}

const FIGURES: readonly Figure[] = [
  rate(`create ${PODS} pods, ${CONCURRENCY} at a time`, 'pods/s', (run) => run.create.perSecond),
  rate(`get ${PODS} pods, ${CONCURRENCY} at a time`, 'pods/s', (run) => run.get.perSecond),
  cost(`list ${PODS} pods, median`, 'ms', (run) => run.list.medianMs),
  rate(`list ${PODS} pods, 16 times, 8 at a time`, 'lists/s', (run) => run.listsAtOnce.perSecond),
  rate(`list a page of 500 of ${PODS} pods, 4 at a time`, 'lists/s', (run) => run.pages.perSecond),
  cost(`list 10 of ${PODS} pods by a label selector, median`, 'ms', (run) => run.selected.medianMs),
  rate(`patch the status of pods, strategic merge, ${CONCURRENCY} at a time`, 'pods/s', (run) => run.patchStatus.perSecond),
  rate(`${WATCHERS} watchers of ${UPDATES} updates`, 'events/s', (run) => run.watch.eventsPerSecond),
  cost(`${WATCHERS} watchers of ${UPDATES} updates, p99 from update to event`, 'ms', (run) => run.watch.p99Ms),
  rate(`delete ${PODS} pods, ${CONCURRENCY} at a time`, 'pods/s', (run) => run.delete.perSecond),
  cost('CPU time of the server for the whole run', 's', (run) => run.cpuSeconds),
  cost('resident memory of the server after the run', 'MiB', (run) => run.residentMiB),
  cost('resident memory of the server at its peak', 'MiB', (run) => run.peakMiB),
];

function rate(what: string, unit: string, of: Figure['of']): Figure {
  return { what, unit, of, better: 'higher' };
}

function cost(what: string, unit: string, of: Figure['of']): Figure {
  return { what, unit, of, better: 'lower' };
}

export const benchmarks: Benchmark[] = FIGURES.flatMap(({ what, unit, better, of }) => {
  const besides = [
    { what, baseline: theirs.figure('fixed bytes', of) },
    { what: `${what}, beside the least a durable server must do`, baseline: least.figure('no Kubernetes, durable', of) },
  ];
  return besides.map(({ what: name, baseline }) => ({
    kind: 'macro',
    name: `api: ${name}`,
    unit,
    better,
    rounds: 1,
    baseline,
    subject: ours.figure('sampan, durable', of),
  }));
});
