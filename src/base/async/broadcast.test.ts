import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Broadcast, SlowSubscriberError, type Subscription } from '#base';

async function readAll<T>(subscription: Subscription<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of subscription) values.push(value);
  return values;
}

describe('a broadcast', () => {
  test('gives each reader everything published after it subscribed, in order', async () => {
    const broadcast = new Broadcast<number>();
    const early = broadcast.subscribe();
    broadcast.publish(1);
    const late = broadcast.subscribe();
    broadcast.publish(2);
    broadcast.publish(3);
    broadcast.close();
    expect(await readAll(early)).toEqual([1, 2, 3]);
    expect(await readAll(late)).toEqual([2, 3]);
    expect(await readAll(broadcast.subscribe())).toEqual([]);
    expect(() => broadcast.publish(4)).toThrow('closed broadcast');
  });

  test('wakes readers that wait already', async () => {
    const broadcast = new Broadcast<string>();
    const subscription = broadcast.subscribe();
    const [first, second] = [subscription.next(), subscription.next()];
    broadcast.publish('a');
    broadcast.publish('b');
    expect([(await first).value, (await second).value]).toEqual(['a', 'b']);
  });

  test('tells its readers of the error it is closed with, after what they have buffered', async () => {
    const broadcast = new Broadcast<number>();
    const subscription = broadcast.subscribe();
    broadcast.publish(1);
    broadcast.close(new Error('source lost'));
    expect(await subscription.next()).toEqual({ value: 1, done: false });
    await expect(subscription.next()).rejects.toThrow('source lost');
    expect((await subscription.next()).done).toBe(true);
  });

  const endings: [string, (subscription: Subscription<number>, controller: AbortController) => unknown][] = [
    [
      'its loop is left',
      async (subscription) => {
        for await (const _ of subscription) break;
      },
    ],
    ['it is disposed of', (subscription) => subscription[Symbol.dispose]()],
    ['its signal aborts', (_subscription, controller) => controller.abort()],
  ];
  test.each(endings)('keeps nothing of a subscription when %s', async (_name, end) => {
    const broadcast = new Broadcast<number>();
    const controller = new AbortController();
    const subscription = broadcast.subscribe({ signal: controller.signal });
    broadcast.publish(1);
    await end(subscription, controller);
    expect(broadcast.size).toBe(0);
    expect(subscription.buffered).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect((await subscription.next()).done).toBe(true);
  });

  test('does not take on a reader whose signal has aborted', async () => {
    const broadcast = new Broadcast<number>();
    const subscription = broadcast.subscribe({ signal: AbortSignal.abort() });
    broadcast.listen(() => expect.unreachable(), AbortSignal.abort());
    broadcast.publish(1);
    expect([broadcast.size, await readAll(subscription)]).toEqual([0, []]);
  });

  test('ends a reader that falls too far behind, and no other', async () => {
    const broadcast = new Broadcast<number>();
    const slow = broadcast.subscribe({ limit: 2 });
    const patient = broadcast.subscribe();
    for (const value of [1, 2, 3]) broadcast.publish(value);
    await expect(slow.next()).rejects.toThrow(SlowSubscriberError);
    expect([broadcast.size, patient.buffered]).toEqual([1, 3]);
  });

  test('forgets the oldest value for a reader that asked for it', async () => {
    const broadcast = new Broadcast<number>();
    const recent = broadcast.subscribe({ limit: 2, overflow: 'drop-oldest' });
    for (const value of [1, 2, 3, 4]) broadcast.publish(value);
    broadcast.close();
    expect(await readAll(recent)).toEqual([3, 4]);
  });

  test('calls listeners at once, until they are disposed of', () => {
    const broadcast = new Broadcast<number>();
    const received: number[] = [];
    const controller = new AbortController();
    const listener = broadcast.listen((value) => received.push(value));
    broadcast.listen((value) => received.push(value * 10), controller.signal);
    broadcast.publish(1);
    listener[Symbol.dispose]();
    broadcast.publish(2);
    controller.abort();
    broadcast.publish(3);
    expect(received).toEqual([1, 10, 20]);
    expect(broadcast.size).toBe(0);
  });
});
