import { expect, test } from 'vitest';
import type { core } from '#api';
import { AsyncSemaphore, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client, type Transport, type TransportRequest } from '#client';
import { StatusWriter } from './status-writer.ts';

/** Responds to each status patch with the patched pod, when told to. */
class SlowServer implements Partial<Transport> {
  readonly isLocal = true;
  readonly patches: { readonly path: string; readonly status: core.PodStatus }[] = [];
  readonly #pending: (() => void)[] = [];
  mostAtOnce = 0;

  async request({ path, body }: TransportRequest): Promise<unknown> {
    const { status } = body as { status: core.PodStatus };
    this.patches.push({ path, status });
    await new Promise<void>((resolve) => (this.mostAtOnce = Math.max(this.mostAtOnce, this.#pending.push(resolve))));
    return { metadata: { name: 'p', resourceVersion: String(this.patches.length + 1) }, status };
  }

  answer(): void {
    this.#pending.shift()?.();
  }
}

function writers(count: number, requestLimits?: { statuses: AsyncSemaphore }) {
  const server = new SlowServer();
  const clock = new VirtualClock();
  const client = new Client(server as unknown as Transport);
  const deps = { client, clock, random: seededRandom(1), logger: silentLogger, signal: new AbortController().signal, requestLimits };
  const pods = Array.from({ length: count }, (_, i) => ({
    metadata: { name: `p${i}`, namespace: 'default', uid: `u${i}`, resourceVersion: '1' },
  }));
  return { server, clock, writers: pods.map((pod) => new StatusWriter(pod as core.Pod, deps)) };
}

async function finish(server: SlowServer, clock: VirtualClock): Promise<void> {
  for (let i = 0; i < 50; i++) {
    await clock.settle();
    server.answer();
  }
}

test('only the latest status of a waiting pod is written', async () => {
  const { server, clock, writers: all } = writers(2, { statuses: new AsyncSemaphore(1) });
  const [first, second] = all as [StatusWriter, StatusWriter];
  first.want({ phase: 'Running' });
  await clock.settle();
  second.want({ phase: 'Pending' });
  await clock.settle();
  second.want({ phase: 'Running' });
  await finish(server, clock);
  expect(server.patches.map(({ path, status }) => `${path.split('/').at(-2)} ${status.phase}`)).toEqual(['p0 Running', 'p1 Running']);
});

test('concurrent status writes stay within shared request limits, and all are written', async () => {
  const { server, clock, writers: all } = writers(20, { statuses: new AsyncSemaphore(3) });
  for (const writer of all) writer.want({ phase: 'Running' });
  await finish(server, clock);
  expect([server.mostAtOnce, server.patches.length]).toEqual([3, 20]);
});

test('without request limits every pod writes at once', async () => {
  const { server, clock, writers: all } = writers(20);
  for (const writer of all) writer.want({ phase: 'Running' });
  await finish(server, clock);
  expect([server.mostAtOnce, server.patches.length]).toEqual([20, 20]);
});

test('a status that waits for volumes is merged with the next one if they are ready soon', async () => {
  const { server, clock, writers: all } = writers(1);
  const [writer] = all as [StatusWriter];
  let ready = () => {};
  const volumes = new Promise<void>((resolve) => (ready = resolve));
  writer.want({ phase: 'Pending' });
  writer.hold(volumes);
  await clock.settle();
  expect(server.patches).toEqual([]);
  ready();
  writer.want({ phase: 'Running' });
  await finish(server, clock);
  expect(server.patches.map(({ status }) => status.phase)).toEqual(['Running']);
});

test('a status that waits for slow volumes is written after a short delay', async () => {
  const { server, clock, writers: all } = writers(1);
  const [writer] = all as [StatusWriter];
  writer.want({ phase: 'Pending' });
  writer.hold(new Promise(() => {}));
  await clock.advance(20);
  await finish(server, clock);
  expect(server.patches.map(({ status }) => status.phase)).toEqual(['Pending']);
});

test('a status that waits for failed volumes is written', async () => {
  const { server, clock, writers: all } = writers(1);
  const [writer] = all as [StatusWriter];
  writer.want({ phase: 'Pending' });
  writer.hold(Promise.reject(new Error('no such volume')));
  await finish(server, clock);
  expect(server.patches.map(({ status }) => status.phase)).toEqual(['Pending']);
});
