import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { createLogger, realClock } from '#base';
import { openNodeBench } from './node-bench.ts';

describe('ending a pod', () => {
  it('stops its containers and removes it from the API', async () => {
    await using bench = await openNodeBench();
    await bench.create('p');
    await bench.delete('p');
    expect(await bench.names()).toEqual([]);
    expect(await bench.runtime.listPodSandbox()).toEqual([]);
    expect(await bench.events('p')).toContain('Killing: Stopping container c');
  });

  it('keeps what the status of a rejected pod says', async () => {
    await using bench = await openNodeBench();
    const pod = await bench.create('p', { nodeSelector: { no: 'such' } });
    const { message } = await bench.status('p');
    expect(message).toMatch(/^Pod was rejected: Predicate NodeAffinity failed/);
    const hold = (finalizers: readonly string[]) => bench.client.of(core.Pod).patch(pod.metadata, { metadata: { finalizers } });
    await hold(['example.com/hold']);
    await bench.delete('p');
    expect(await bench.status('p')).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity', message });
    await hold([]);
  });

  it('gives them the grace period, preStop hook included', async () => {
    await using bench = await openNodeBench();
    const lifecycle = { preStop: { sleep: { seconds: 5 } } };
    await bench.create('p', {
      containers: [{ name: 'c', image: 'app:1', lifecycle }] as never,
      terminationGracePeriodSeconds: 20,
      annotations: { 'stop-time': 'never' },
    });
    await bench.delete('p');
    await bench.clock.advance(19_000);
    expect(await bench.names()).toEqual(['p']);
    expect((await bench.container('p')).state?.running).toBeDefined();
    await bench.clock.advance(1000);
    expect(await bench.names()).toEqual([]);
  });

  it('runs the preStop hook before it stops a container that is deleted with less time than its own', async () => {
    await using bench = await openNodeBench();
    const lifecycle = { preStop: { sleep: { seconds: 5 } } };
    await bench.create('p', { containers: [{ name: 'c', image: 'app:1', lifecycle }] as never, terminationGracePeriodSeconds: 30 });
    await bench.delete('p', 15);
    await bench.clock.advance(4000);
    expect((await bench.container('p')).state?.running).toBeDefined();
    await bench.clock.advance(2000);
    expect(await bench.names()).toEqual([]);
  });

  it('is quicker when asked again with less time', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { terminationGracePeriodSeconds: 300, annotations: { 'stop-time': 'never' } });
    await bench.delete('p');
    await bench.clock.advance(5000);
    await bench.delete('p', 2);
    await bench.clock.advance(2000);
    expect(await bench.names()).toEqual([]);
  });

  it('leaves nothing of one that was deleted by force', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'stop-time': 'never' } });
    await bench.delete('p', 0);
    expect(await bench.names()).toEqual([]);
    await bench.clock.advance(2000);
    expect(await bench.runtime.listPodSandbox()).toEqual([]);
  });

  it('does not wait for an image that is being pulled', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { annotations: { 'pull-time': '1h' } });
    await bench.delete('p');
    expect(await bench.names()).toEqual([]);
  });

  it('keeps its last state while a finalizer holds it', async () => {
    await using bench = await openNodeBench();
    await bench.create('p', { restartPolicy: 'Never' });
    await bench.client.of(core.Pod).patch({ name: 'p', namespace: 'default' }, { metadata: { finalizers: ['example.com/hold'] } });
    await bench.delete('p');
    await bench.clock.advance(60_000);
    expect(await bench.status('p')).toMatchObject({ phase: 'Succeeded', containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] });
  });
});

it.each(['runPodSandbox', 'createContainer'] as const)(
  'an error of %s that comes after the deletion of the pod is logged',
  async (call) => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', clock: realClock, write: (line) => void lines.push(line) });
    await using bench = await openNodeBench({}, 1, { logger });
    let fail = (_: Error): void => undefined;
    bench.runtime[call] = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    await bench.create('p');
    await bench.delete('p');
    fail(new Error('the disk is full'));
    await bench.clock.settle();
    expect(lines.filter((line) => line.includes('the disk is full'))).toHaveLength(1);
  },
);
