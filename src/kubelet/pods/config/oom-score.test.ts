import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { oomScoreAdjustment } from './oom-score.ts';

const CAPACITY = 24_684_092 * 1024;

interface Case {
  readonly what: string;
  readonly score: number;
  readonly own?: string;
  readonly qosClass?: string;
  readonly spec?: Partial<core.PodSpec>;
}

const container = (name: string, memory?: string) => ({ name, ...(memory !== undefined && { resources: { requests: { memory } } }) });
const sidecar = (memory?: string) => ({ ...container('c', memory), restartPolicy: 'Always' });

/** Scores that upstream's kubelet 1.36.4 gave, or gives by its formula. */
const CASES: readonly Case[] = [
  { what: 'a request of a fiftieth of a percent', own: '50Mi', score: 998 },
  { what: 'a request of nothing in a burstable pod', score: 999 },
  { what: 'a request of half the memory', own: '12Gi', score: 491 },
  { what: 'a request of all memory', own: '24684092Ki', score: 3 },
  { what: 'a guaranteed pod', own: '50Mi', qosClass: 'Guaranteed', score: -997 },
  { what: 'a pod of best effort', qosClass: 'BestEffort', score: 1000 },
  {
    what: 'a pod that is critical for its node',
    own: '50Mi',
    spec: { priority: 2_000_001_000, priorityClassName: 'system-node-critical' },
    score: -997,
  },
  {
    what: 'a pod that is critical for the cluster',
    own: '50Mi',
    spec: { priority: 2_000_000_000, priorityClassName: 'system-cluster-critical' },
    score: 998,
  },
  {
    what: 'a part of what the pod requests',
    spec: { resources: { requests: { memory: '100Mi' } }, containers: [container('c'), container('d', '50Mi')] },
    score: 999,
  },
  {
    what: 'a part of what the pod requests, of all containers',
    own: '50Mi',
    spec: {
      resources: { requests: { memory: '2Gi' } },
      initContainers: [container('i')],
      containers: [container('c', '50Mi'), container('d')],
    },
    score: 971,
  },
  {
    what: 'a sidecar of a larger container',
    spec: { initContainers: [sidecar('50Mi')], containers: [container('d', '12Gi')] },
    own: 'sidecar',
    score: 491,
  },
  {
    what: 'a sidecar of a smaller container',
    spec: { initContainers: [sidecar('50Mi')], containers: [container('d', '1Mi')] },
    own: 'sidecar',
    score: 998,
  },
];

describe('the OOM score', () => {
  it.each(CASES)('of $what is $score', ({ own, qosClass = 'Burstable', spec, score }) => {
    const one = own === 'sidecar' ? sidecar('50Mi') : container('c', own);
    const pod: core.Pod = { metadata: { name: 'p' }, spec: { containers: [one], ...spec }, status: { qosClass } };
    expect(oomScoreAdjustment(pod, one, CAPACITY)).toBe(score);
  });
});
