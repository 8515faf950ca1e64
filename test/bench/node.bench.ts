import { type Benchmark, SharedRuns } from './harness.ts';
import { ALONE_IDLE_SECONDS, ALONE_PODS, runKubeletAlone } from './kubelet-alone.ts';
import { IDLE_SECONDS, MANY_PODS, runRealPods, whyNoContainers } from './real-pods.ts';

const runs = new SharedRuns(runRealPods);
const alone = new SharedRuns(runKubeletAlone);
const once = { kind: 'macro', better: 'lower', rounds: 1 } as const;
const reason = whyNoContainers();
if (reason !== undefined) console.error(`benchmarks of a real node are left out: ${reason}`);

const figures: Benchmark[] = [
  {
    ...once,
    unit: 'ms',
    name: 'node: create of a pod to its Running',
    baseline: runs.figure('CRI calls', ({ direct }) => direct.oneMs),
    subject: runs.figure('kubelet', ({ kubelet }) => kubelet.oneMs),
  },
  {
    ...once,
    unit: 'ms',
    name: `node: create of ${MANY_PODS} pods to the last one's Running`,
    baseline: runs.figure('CRI calls', ({ direct }) => direct.manyMs),
    subject: runs.figure('kubelet', ({ kubelet }) => kubelet.manyMs),
  },
  {
    ...once,
    unit: 'ms of CPU',
    name: 'node: CPU time for each pod of them, API server included',
    baseline: runs.figure('CRI calls', ({ direct }) => direct.cpuMsPerPod),
    subject: runs.figure('kubelet', ({ kubelet }) => kubelet.cpuMsPerPod),
  },
  {
    ...once,
    unit: '% of a core',
    name: `node: CPU time over ${IDLE_SECONDS} s while they run, API server included`,
    baseline: runs.figure('no pods', ({ idlePercent }) => idlePercent.empty),
    subject: runs.figure('kubelet', ({ idlePercent }) => idlePercent.full),
  },
  {
    ...once,
    unit: 'ms of CPU',
    name: `node: CPU time of a kubelet alone for each of ${ALONE_PODS} pods at once`,
    baseline: runs.figure('CRI calls', ({ direct }) => direct.cpuMsPerPod),
    subject: alone.figure('kubelet', ({ cpuMsPerPod }) => cpuMsPerPod),
  },
  {
    ...once,
    unit: '% of a core',
    name: `node: CPU time of a kubelet alone over ${ALONE_IDLE_SECONDS} s while they run`,
    baseline: runs.figure('API server and kubelet', ({ idlePercent }) => idlePercent.full),
    subject: alone.figure('kubelet', ({ idlePercent }) => idlePercent),
  },
];

export const benchmarks: Benchmark[] = reason === undefined ? figures : [];
