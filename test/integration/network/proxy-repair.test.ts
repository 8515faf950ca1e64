import { expect, test } from 'vitest';
import { core } from '#api';
import { KernelNetwork, realClock, silentLogger, systemRandom } from '#base';
import { readProxyConfiguration, startProxy } from '#proxy';
import { startCluster } from '#testing';

/** Counts writes, and those that overlap. */
class SlowKernel extends KernelNetwork {
  writes = 0;
  overlaps = 0;
  #isBusy = false;

  override async run(program: string): Promise<string> {
    if (program !== 'iptables-restore') return '';
    this.writes++;
    if (this.#isBusy) this.overlaps++;
    this.#isBusy = true;
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#isBusy = false;
    return '';
  }
}

test('the proxy never repairs the rules of services while it writes changed ones', async () => {
  await using cluster = await startCluster({ nodes: 0, controllers: [] });
  const services = cluster.client.of(core.Service);
  const kernel = new SlowKernel();
  const iptables = { minSyncPeriod: '1ms', syncPeriod: '1ms' };
  const settings = { mode: 'iptables', healthzBindAddress: '127.0.0.1:0', metricsBindAddress: '127.0.0.1:0', iptables };
  const config = { ...readProxyConfiguration(settings), nodeName: 'n1' };
  await using proxy = startProxy(config, { client: cluster.client, clock: realClock, random: systemRandom, logger: silentLogger, kernel });
  await proxy.ready;
  for (let i = 0; i < 20; i++) {
    const writes = kernel.writes;
    await services.create({ metadata: { name: `s-${i}`, namespace: 'default' }, spec: { ports: [{ port: 80 }] } } as core.Service);
    await expect.poll(() => kernel.writes, { timeout: 20_000, interval: 5 }).toBeGreaterThan(writes + 1);
  }
  expect(kernel.overlaps).toBe(0);
});
