import { BIND_NODES, BIND_PODS, type BindRate, bindOnNodeObjects, bindOnSimulatedNodes } from './bind-rate.ts';
import { runStarts } from './cluster-start.ts';
import { type Benchmark, type MacroBenchmark, SharedRuns } from './harness.ts';
import { IDLE_SECONDS, runIdle } from './idle-cost.ts';
import { createOnly, REHEARSED_NODES, REHEARSED_PODS, rehearse } from './rehearsal.ts';
import { bareNode, FORKED_OBJECTS, firstInItsProcess, runFork } from './test-clusters.ts';
import { DAY_NODES, DAY_PODS, emptyDay, idleDay, MEASURED_HOURS } from './virtual-day.ts';

const starts = new SharedRuns(runStarts);
const forks = new SharedRuns(runFork);
const idle = new SharedRuns(runIdle);

const node = () => ({ name: 'node -e 0', measure: bareNode });
const repeated = { kind: 'macro', unit: 'ms', better: 'lower', rounds: 5 } as const;
/** For figures that take long, or are averages already. */
const once = { kind: 'macro', better: 'lower', rounds: 1 } as const;

export const benchmarks: Benchmark[] = [
  {
    ...repeated,
    name: 'cluster: process start to /readyz, node Ready, default service account; embedded store, first start',
    baseline: node(),
    subject: starts.figure('sampan up', (run) => run.firstStartMs),
  },
  {
    ...repeated,
    name: 'cluster: process start to /readyz, node Ready, default service account; embedded store, second start',
    baseline: node(),
    subject: starts.figure('sampan up', (run) => run.secondStartMs),
  },
  {
    ...repeated,
    name: 'cluster: create of the first pod to its Running, over TLS',
    baseline: starts.figure('create of a ConfigMap to its event', (run) => run.firstEventMs),
    subject: starts.figure('sampan up', (run) => run.firstPodMs),
  },
  {
    ...once,
    unit: 'MiB',
    name: 'cluster: resident memory of an idle cluster',
    baseline: idle.figure('node, a timer a second', (run) => run.node.residentMiB),
    subject: idle.figure('sampan up', (run) => run.sampan.residentMiB),
  },
  {
    ...once,
    unit: '% of a core',
    name: `cluster: CPU time of an idle cluster over ${IDLE_SECONDS} s`,
    baseline: idle.figure('node, a timer a second', (run) => run.node.cpuPercent),
    subject: idle.figure('sampan up', (run) => run.sampan.cpuPercent),
  },
  {
    ...repeated,
    name: 'cluster: startCluster() with 3 nodes, the first of a process',
    baseline: node(),
    subject: { name: 'startCluster()', measure: firstInItsProcess },
  },
  {
    ...repeated,
    name: 'cluster: startCluster() with 3 nodes, after others',
    baseline: node(),
    subject: forks.figure('startCluster()', (run) => run.startMs),
  },
  {
    ...repeated,
    name: `cluster: fork with ${FORKED_OBJECTS} objects`,
    baseline: forks.figure('a new cluster', (run) => run.startMs),
    subject: forks.figure('fork()', (run) => run.forkMs),
  },
  createToBound('simulated nodes', bindOnSimulatedNodes),
  createToBound('nodes that are objects only', bindOnNodeObjects),
  {
    ...once,
    unit: 's',
    name: `cluster: a virtual day of ${DAY_NODES} idle nodes with ${DAY_PODS} pods (${MEASURED_HOURS} hours measured, scaled)`,
    baseline: { name: 'a cluster without nodes', measure: emptyDay },
    subject: { name: 'startCluster()', measure: idleDay },
  },
  {
    ...once,
    unit: 's',
    name: `cluster: a Deployment of ${REHEARSED_PODS} pods on ${REHEARSED_NODES} nodes in virtual time, until it is available`,
    baseline: { name: 'pods that nobody schedules', measure: createOnly },
    subject: { name: 'startCluster()', measure: rehearse },
  },
];

function createToBound(where: string, run: () => Promise<BindRate>): MacroBenchmark {
  const runs = new SharedRuns(run);
  return {
    ...once,
    unit: 'pods/s',
    better: 'higher',
    name: `cluster: ${BIND_PODS} pods from create to bound by the scheduler, over TLS, on ${BIND_NODES} ${where}`,
    baseline: runs.figure('create alone', ({ created }) => created),
    subject: runs.figure('sampan up', ({ bound }) => bound),
  };
}
