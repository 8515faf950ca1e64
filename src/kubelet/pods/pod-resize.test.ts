import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { VirtualClock } from '#base';
import type { PodEvents } from './pod-events.ts';
import { PodResize } from './pod-resize.ts';

const pending = { type: 'PodResizePending', status: 'True', reason: 'Deferred', observedGeneration: 2 };
const deps = () => {
  const reasons: string[] = [];
  const record = (_: unknown, reason: string) => void reasons.push(reason);
  return { reasons, clock: new VirtualClock(), events: { normal: record, warning: record } as unknown as PodEvents };
};
const resizedPod = (cpu: string, conditions: readonly core.PodCondition[]): core.Pod => ({
  metadata: { name: 'p', uid: 'u', generation: 2 },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  status: {
    startTime: '2026-01-01T00:00:00Z',
    conditions: [...conditions],
    containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, resources: { requests: { cpu: '1' } } }],
  },
});
const cpuOf = (pod: core.Pod) => pod.spec?.containers?.[0]?.resources?.requests?.cpu;

describe('the resize of a pod that an earlier kubelet ran', () => {
  it('is still pending: the pod has what its status shows', () => {
    const { reasons, ...own } = deps();
    const pod = resizedPod('5', [pending]);
    const resize = new PodResize(pod, own);
    expect(cpuOf(resize.allocated(pod))).toBe('1');
    resize.settle(pod, () => ({ reason: 'OutOfcpu', message: 'no' }));
    expect([resize.isDeferred, cpuOf(resize.allocated(pod)), reasons]).toEqual([true, '1', []]);
    resize.settle(pod, () => undefined);
    expect([resize.isDeferred, resize.isInProgress, cpuOf(resize.allocated(pod)), reasons]).toEqual([false, true, '5', ['ResizeStarted']]);
  });

  it('is not pending where no condition says so: the pod has what its spec says', () => {
    const { reasons, ...own } = deps();
    const pod = resizedPod('5', []);
    const resize = new PodResize(pod, own);
    expect([resize.allocated(pod) === pod, resize.conditions, reasons]).toEqual([true, [], []]);
  });

  it('that is infeasible is not deferred', () => {
    const { reasons, ...own } = deps();
    const pod = resizedPod('5', []);
    const resize = new PodResize(resizedPod('1', []), own);
    resize.settle(pod, () => ({ reason: 'Infeasible', message: 'never' }));
    expect(resize.conditions).toMatchObject([{ type: 'PodResizePending', reason: 'Infeasible', message: 'never', observedGeneration: 2 }]);
    expect([resize.isDeferred, reasons]).toEqual([false, ['ResizeInfeasible']]);
  });
});
