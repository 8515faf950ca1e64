import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { openRealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`generations of real pods are skipped: ${reason}`);

const POLL = { timeout: 60_000, interval: 100 };
const UPDATES = 499;

describe.skipIf(reason !== undefined)('a pod on a real node', () => {
  it(`has an observedGeneration that catches up after ${UPDATES} changes of its spec, and was not restarted`, {
    timeout: 120_000,
  }, async () => {
    await using node = await openRealKubelet();
    await node.run('busy', { activeDeadlineSeconds: 10_000 });
    const pods = node.client.of(core.Pod);
    const key = { name: 'busy', namespace: 'default' };
    for (let i = 1; i <= UPDATES; i++) await pods.patch(key, { spec: { activeDeadlineSeconds: 10_000 - i } });
    expect((await pods.get(key)).metadata.generation).toBe(UPDATES + 1);
    await expect.poll(async () => (await pods.get(key)).status?.observedGeneration, POLL).toBe(UPDATES + 1);
    const { status } = await pods.get(key);
    expect([status?.phase, status?.containerStatuses?.[0]?.restartCount]).toEqual(['Running', 0]);
  });
});
