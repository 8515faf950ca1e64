import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { VirtualClock } from '#base';
import { volumeMetrics, volumeStats } from './volume-stats.ts';

const figures = { capacityBytes: 10, availableBytes: 6, usedBytes: 4, inodes: 5, inodesFree: 3, inodesUsed: 2 };
const pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
} as core.Pod;
const deps = {
  clock: new VirtualClock({ startMs: 0 }),
  pods: () => [pod],
  volumeUsage: async () => [
    { name: 'v', claim: { namespace: 'n', name: 'c' }, isEphemeral: false, ...figures },
    { name: 'scratch', claim: undefined, isEphemeral: true, ...figures },
  ],
};

describe('volume stats of the kubelet', () => {
  it('are in the stats summary of their pod, with pvcRef', async () => {
    const time = '1970-01-01T00:00:00.000Z';
    expect(await volumeStats(pod, deps)).toEqual([
      { time, name: 'v', pvcRef: { namespace: 'n', name: 'c' }, ...figures },
      { time, name: 'scratch', ...figures },
    ]);
  });

  it('are metrics, once per claim', async () => {
    const text = await volumeMetrics({ ...deps, pods: () => [pod, pod] });
    expect(text).toContain('kubelet_volume_stats_used_bytes{namespace="n",persistentvolumeclaim="c"} 4\n');
    expect(text.match(/^kubelet_volume_stats_/gm)).toHaveLength(6);
  });

  it('are not collected if no pod has a claim', async () => {
    expect(await volumeMetrics({ ...deps, pods: () => [] })).toBe('');
  });
});
