import { expect, it } from 'vitest';
import { core } from '#api';
import type { SimulatedRuntime } from '#kubelet';
import { openNodeBench } from './node-bench.ts';

type Mood = 'well' | 'hangs' | 'fails';

/** Lets the runtime of a node hang or fail from the next request about its health on. */
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
