import { whyNoContainers } from '../e2e/real-node.ts';
import { type Benchmark, SharedRuns } from './harness.ts';
import { podsOnSimulatedNodes } from './storage-claims.ts';
import { realPodStarts } from './storage-real-node.ts';
import { reconstruct } from './storage-restart.ts';

const CLAIMS = 1_000;
const VOLUMES = 200;
const isRoot = process.getuid?.() === 0;
const starts = new SharedRuns(realPodStarts);
const restarts = new SharedRuns(() => reconstruct(VOLUMES));
const shared = { kind: 'macro', better: 'lower', rounds: 3 } as const;

/** Real nodes need root and containerd, mounts need root; elsewhere there is nothing to measure. */
export const benchmarks: Benchmark[] = [
  {
    ...shared,
    name: `storage: ${CLAIMS} pods run on simulated nodes`,
    unit: 's',
    baseline: { name: 'without claims', measure: () => podsOnSimulatedNodes({ count: CLAIMS, hasClaims: false }) },
    subject: { name: 'each with a claim of the default class', measure: () => podsOnSimulatedNodes({ count: CLAIMS, hasClaims: true }) },
  },
  ...(isRoot
    ? ([
        {
          ...shared,
          name: `storage: a kubelet that starts again has ${VOLUMES} volumes`,
          unit: 'ms',
          baseline: restarts.figure('mounts them', ({ mountMs }) => mountMs),
          subject: restarts.figure('finds them mounted', ({ reconstructMs }) => reconstructMs),
        },
      ] satisfies Benchmark[])
    : []),
  ...(whyNoContainers() === undefined
    ? ([
        {
          ...shared,
          rounds: 1,
          name: 'storage: a pod on a real node, from its creation until it runs',
          unit: 'ms',
          baseline: starts.figure('without a claim', ({ plainMs }) => plainMs),
          subject: starts.figure('with a new claim of the default class', ({ claimMs }) => claimMs),
        },
      ] satisfies Benchmark[])
    : []),
];
