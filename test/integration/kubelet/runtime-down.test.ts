import { expect, it } from 'vitest';
import { core } from '#api';
import type { SimulatedRuntime } from '#kubelet';
import { openNodeBench } from './node-bench.ts';

type Mood = 'well' | 'hangs' | 'fails';

/** Makes a node's runtime hang or fail from the next health check on. */
function moody(runtime: SimulatedRuntime, mood: () => Mood): void {
  const ask = runtime.status.bind(runtime);
  runtime.status = () => {
    if (mood() === 'hangs') return new Promise(() => {});
    return mood() === 'fails' ? Promise.reject(new Error('connection refused')) : ask();
  };
}

it.each<Mood>(['hangs', 'fails'])(
  'a node whose runtime %s is not ready, keeps its containers, and is ready again with it',
  async (trouble) => {
    await using bench = await openNodeBench({ nodeStatusUpdateMs: 10_000 });
    let mood: Mood = 'well';
    moody(bench.runtime, () => mood);
    await bench.create('p');
    const ready = async () => {
      const { status } = await bench.client.of(core.Node).get({ name: 'n1' });
      const { status: is, reason, message } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
      return { is, reason, message };
    };
    mood = trouble;
    await bench.clock.advance(25_000);
    expect(await ready()).toMatchObject({ is: 'True' });
    await bench.clock.advance(60_000);
    expect(await ready()).toEqual({ is: 'False', reason: 'KubeletNotReady', message: 'container runtime is down' });
    expect((await bench.container('p')).state?.running).toBeDefined();
    mood = 'well';
    await bench.clock.advance(30_000);
    expect(await ready()).toMatchObject({ is: 'True', reason: 'KubeletReady' });
    expect(await bench.runtime.listContainers()).toHaveLength(1);
    expect((await bench.container('p')).restartCount).toBe(0);
  },
);

it('pods wait for the network of their node, except those with hostNetwork', async () => {
  await using bench = await openNodeBench({ nodeStatusUpdateMs: 10_000 });
  const ask = bench.runtime.status.bind(bench.runtime);
  let hasNetwork = false;
  bench.runtime.status = async () => {
    const status = await ask();
    const conditions = status.conditions.map((condition) =>
      condition.type === 'NetworkReady' && !hasNetwork
        ? { ...condition, status: false, reason: 'NoCni', message: 'no network' }
        : condition,
    );
    return { ...status, conditions };
  };
  await bench.clock.advance(10_000);
  await bench.create('p');
  await bench.create('host', { hostNetwork: true });
  await bench.clock.advance(3_000);
  expect((await bench.status('host')).phase).toBe('Running');
  expect((await bench.status('p')).phase).toBe('Pending');
  const message = 'container runtime network not ready: NetworkReady=false reason:NoCni message:no network';
  expect(await bench.events('p')).toEqual([`NetworkNotReady: network is not ready: ${message}`]);
  hasNetwork = true;
  await bench.clock.advance(2_000);
  expect((await bench.status('p')).phase).toBe('Running');
});
