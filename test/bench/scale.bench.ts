import { type Benchmark, SharedRuns } from './harness.ts';
import { runScale, type ScaleRun, type ScaleShape } from './scale-run.ts';

const once = { kind: 'macro', better: 'lower', rounds: 1 } as const;

export const benchmarks: Benchmark[] = [
  ...scale({ nodes: 200, deployments: 5, replicas: 800 }),
  ...scale({ nodes: 1_000, deployments: 5, replicas: 4_000 }),
  // Half an hour or more, and 6 GiB.
  ...scale({ nodes: 5_000, deployments: 25, replicas: 4_000 }).map((benchmark): Benchmark => ({ ...benchmark, isLong: true })),
];

/** Each figure beside the cost of the pods as objects alone: created over TLS, for a scheduler that does not exist. */
function scale(shape: ScaleShape): Benchmark[] {
  const runs = new SharedRuns(() => runScale(shape));
  const name = `scale: ${shape.deployments} Deployments of ${shape.replicas} replicas on ${shape.nodes} simulated nodes`;
  const figure = (unit: string, what: string, of: (run: ScaleRun['available']) => number): Benchmark => ({
    ...once,
    unit,
    name: `${name}, ${what}`,
    baseline: runs.figure('pods that nobody schedules', ({ created }) => of(created)),
    subject: runs.figure('until available', ({ available }) => of(available)),
  });
  return [
    figure('s', 'time', ({ seconds }) => seconds),
    figure('s', 'CPU time', ({ cpuSeconds }) => cpuSeconds),
    figure('KiB', 'resident memory a pod', ({ kibibytesPerPod }) => kibibytesPerPod),
    figure('KiB', 'resident memory a pod without mapped files', ({ ownKibibytesPerPod }) => ownKibibytesPerPod),
    figure('% of a core', 'CPU time in the 20 s after it has settled for 15 s', ({ settledPercent }) => settledPercent),
    figure('ms', 'longest request of a reader', ({ slowestMs }) => slowestMs),
  ];
}
