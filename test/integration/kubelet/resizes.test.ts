import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { openNodeBench } from './node-bench.ts';

type Bench = Awaited<ReturnType<typeof openNodeBench>>;

/** The simulated machine has eight CPUs. */
const container = (cpu: string) => ({ name: 'c', image: 'app:1', resources: { requests: { cpu } } });
const conditionsOf = async (bench: Bench, name: string) =>
  ((await bench.status(name)).conditions ?? []).filter(({ type }) => type.startsWith('PodResize'));
const allocatedTo = async (bench: Bench, name: string) => (await bench.container(name)).allocatedResources?.cpu;

async function resize(bench: Bench, name: string, cpu: string): Promise<void> {
  const spec = { containers: [{ name: 'c', resources: { requests: { cpu } } }] };
  await bench.client.of(core.Pod).patch({ name, namespace: 'default' }, { spec }, { subresource: 'resize' });
  await bench.clock.advance(100);
}

describe('a resize for which the node has no room', () => {
  const message = "Node didn't have enough resource: cpu, requested: 5000, used: 5000, capacity: 8000";
  const details = (error?: string) =>
    JSON.stringify({ containers: [{ name: 'c', resources: { requests: { cpu: '5' } } }], generation: 2, error });

  async function deferred(): Promise<Bench> {
    const bench = await openNodeBench();
    await bench.create('big', { containers: [container('5')] });
    await bench.create('p', { containers: [container('1')] });
    await bench.clock.advance(2000);
    await resize(bench, 'p', '5');
    return bench;
  }

  it('is deferred: the pod keeps what it has, and says why', async () => {
    await using bench = await deferred();
    expect(await conditionsOf(bench, 'p')).toMatchObject([
      { type: 'PodResizePending', status: 'True', reason: 'Deferred', message, observedGeneration: 2 },
    ]);
    expect(await bench.container('p')).toMatchObject({
      allocatedResources: { cpu: '1' },
      resources: { requests: { cpu: '1' } },
    });
    expect((await bench.status('p')).observedGeneration).toBe(2);
    expect(await bench.events('p')).toContain(`ResizeDeferred: Pod resize OutOfcpu: ${details(message)}`);
    expect((await bench.events('p')).join()).not.toContain('ResizeStarted');
  });

  it('is done when another pod has made room', async () => {
    await using bench = await deferred();
    await bench.delete('big', 0);
    await bench.clock.advance(2000);
    expect(await conditionsOf(bench, 'p')).toEqual([]);
    expect(await allocatedTo(bench, 'p')).toBe('5');
    const events = await bench.events('p');
    expect(events).toContain(`ResizeStarted: Pod resize started: ${details()}`);
    expect(events).toContain(`ResizeCompleted: Pod resize completed: ${details()}`);
  });

  it('is done when another pod was resized to less', async () => {
    await using bench = await deferred();
    await resize(bench, 'big', '2');
    await bench.clock.advance(2000);
    expect(await conditionsOf(bench, 'p')).toEqual([]);
    expect(await allocatedTo(bench, 'p')).toBe('5');
  });

  it('ends when it is taken back', async () => {
    await using bench = await deferred();
    await resize(bench, 'p', '1');
    await bench.clock.advance(1000);
    expect(await conditionsOf(bench, 'p')).toEqual([]);
    expect((await bench.events('p')).join()).not.toContain('ResizeStarted');
  });

  it('does not take room from pods that come later', async () => {
    await using bench = await deferred();
    await bench.create('late', { containers: [container('2')] });
    await bench.clock.advance(2000);
    expect((await bench.status('late')).phase).toBe('Running');
  });
});

describe('a resize that the runtime refuses', () => {
  it('stays in progress with the error, until it succeeds', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { containers: [container('1')] });
    await bench.clock.advance(2000);
    const update = bench.runtime.updateContainerResources;
    bench.runtime.updateContainerResources = async () => {
      throw new Error('no such cgroup');
    };
    await resize(bench, 'p', '2');
    expect(await conditionsOf(bench, 'p')).toMatchObject([
      { type: 'PodResizeInProgress', status: 'True', reason: 'Error', message: 'no such cgroup', observedGeneration: 2 },
    ]);
    expect(await bench.container('p')).toMatchObject({ allocatedResources: { cpu: '2' }, resources: { requests: { cpu: '1' } } });
    const failures = (await bench.events('p')).filter((event) => event.startsWith('ResizeError: Pod resize error: '));
    expect(failures).toHaveLength(1);
    bench.runtime.updateContainerResources = update;
    await bench.clock.advance(11_000);
    expect(await conditionsOf(bench, 'p')).toEqual([]);
    expect(await bench.container('p')).toMatchObject({ resources: { requests: { cpu: '2' } } });
  });
});
