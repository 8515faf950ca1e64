import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { podsToPreempt } from './choose-pods.ts';

const MI = 1024 ** 2;

function pod(name: string, { cpu = '0', memory = '0', qosClass = 'Burstable', priority = 0 } = {}): core.Pod {
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: { priority, containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] },
    status: { qosClass },
  };
}

const critical = pod('critical', { priority: 2_000_000_000 });
const chosen = (pods: readonly core.Pod[], ...shortages: readonly (readonly [string, number])[]) =>
  podsToPreempt(
    critical,
    pods,
    shortages.map(([resource, amount]) => ({ resource, amount })),
  )?.map(({ metadata }) => metadata.name);

describe('the pods that make room for a critical one', () => {
  it('are the fewest of the class that has enough', () => {
    const pods = [pod('small', { cpu: '100m' }), pod('large', { cpu: '900m' }), pod('medium', { cpu: '500m' })];
    expect(chosen(pods, ['cpu', 450])).toEqual(['medium']);
    expect(chosen(pods, ['cpu', 950])).toEqual(['large', 'small']);
  });

  it('are Guaranteed only where the others do not have enough', () => {
    const guaranteed = pod('guaranteed', { cpu: '1', qosClass: 'Guaranteed' });
    const burstable = pod('burstable', { cpu: '400m' });
    expect(chosen([guaranteed, burstable], ['cpu', 300])).toEqual(['burstable']);
    expect(chosen([guaranteed, burstable], ['cpu', 500])).toEqual(['guaranteed']);
    expect(chosen([guaranteed, burstable], ['cpu', 1300])).toEqual(['burstable', 'guaranteed']);
  });

  it('are BestEffort where the node has too many pods', () => {
    const pods = [pod('burstable', { cpu: '1' }), pod('best-effort', { qosClass: 'BestEffort' })];
    expect(chosen(pods, ['pods', 1])).toEqual(['best-effort']);
  });

  it('cover every resource that is short', () => {
    const pods = [pod('cpu', { cpu: '500m' }), pod('memory', { memory: '64Mi' }), pod('both', { cpu: '500m', memory: '64Mi' })];
    expect(chosen(pods, ['cpu', 500], ['memory', 64 * MI])).toEqual(['both']);
  });

  it('are not critical themselves', () => {
    expect(chosen([pod('other', { cpu: '1', priority: 2_000_000_000 })], ['cpu', 500])).toBeUndefined();
    expect(chosen([pod('small', { cpu: '100m' })], ['cpu', 500])).toBeUndefined();
  });
});
