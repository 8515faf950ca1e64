import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { silentLogger, VirtualClock } from '#base';
import { decodeMessage, encodeCall, messageLength } from '../dbus/dbus-wire.ts';
import { type FakeBus, openFakeBus } from '../dbus/fake-bus.test-setup.ts';
import type { PodEviction } from '../status/pod-status.ts';
import { openLogind, type ShutdownSource } from './logind.ts';
import { shutdownGroups, shutdownPeriods } from './shutdown-groups.ts';
import { ShutdownManager } from './shutdown-manager.ts';

const pod = (name: string, priority: number, graceSeconds = 100): core.Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { priority, terminationGracePeriodSeconds: graceSeconds, containers: [] },
});

describe('shutdownPeriods', () => {
  it.each([
    ['none by default', {}, []],
    ['none when critical pods have more than all', { shutdownGracePeriodMs: 10_000, shutdownGracePeriodCriticalPodsMs: 20_000 }, []],
    [
      'regular pods first, then critical ones',
      { shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000 },
      [
        [0, 20],
        [2_000_000_000, 10],
      ],
    ],
    [
      'by priority, from the lowest',
      {
        shutdownGracePeriodByPodPriority: [
          { priority: 100, shutdownGracePeriodSeconds: 5 },
          { priority: 0, shutdownGracePeriodSeconds: 60 },
        ],
      },
      [
        [0, 60],
        [100, 5],
      ],
    ],
  ])('are %s', (_, config, expected) => {
    expect(shutdownPeriods(config).map(({ priority, shutdownGracePeriodSeconds }) => [priority, shutdownGracePeriodSeconds])).toEqual(
      expected,
    );
  });

  it('put every pod into exactly one group, and none after one of a higher priority', () => {
    const periods = [0, 1000, 2000].map((priority) => ({ priority, shutdownGracePeriodSeconds: 1 }));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 3000 }), { maxLength: 20 }), (priorities) => {
        const groups = shutdownGroups(
          periods,
          priorities.map((priority, i) => ({ pod: pod(`p${i}`, priority) })),
        );
        const order = groups.flatMap(({ pods }, index) => pods.map(({ pod: { spec } }) => ({ index, priority: spec?.priority ?? 0 })));
        expect(order.length).toBe(priorities.length);
        for (const a of order) for (const b of order) if (a.index < b.index) expect(a.priority).toBeLessThan(b.priority);
      }),
    );
  });
});

describe('ShutdownManager', () => {
  it('ends pods by priority group with upstream’s reasons before it releases the inhibitor lock', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const fake = (object: core.Pod, endsAfterMs: number) => ({
      pod: object,
      isActive: true,
      isOver: false,
      evict({ reason, message, graceSeconds, isDisruption }: PodEviction) {
        log.push(`${object.metadata.name} ${reason} ${graceSeconds} ${isDisruption}: ${message}`);
        clock.setTimer(endsAfterMs, () => {
          this.isOver = true;
          log.push(`${object.metadata.name} over`);
        });
        return true;
      },
    });
    let notify: (isShuttingDown: boolean) => void = () => {};
    const source: ShutdownSource = { closed: new Promise(() => {}), maxDelayMs: 1e6, [Symbol.dispose]: () => void log.push('closed') };
    const pods = [fake(pod('critical', 2_000_000_001), 1000), fake(pod('slow', 0), 60_000), fake(pod('quick', 0, 3), 1000)];
    const stop = new AbortController();
    const manager = new ShutdownManager(shutdownPeriods({ shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000 }), {
      ...{ clock, logger: silentLogger, nodeName: 'n', pods: () => pods, onChange: () => void log.push('reported') },
      recorder: { normal: (_, reason, message) => void log.push(`${reason}: ${message}`), warning: () => {}, record: () => {} },
      open: async (listener) => {
        notify = listener;
        return source;
      },
      inhibit: async () => ({ [Symbol.asyncDispose]: async () => void log.push('released') }),
    });
    const running = manager.run(stop.signal);
    await clock.settle();
    expect(manager.admissionProblem()).toBeUndefined();
    notify(true);
    await clock.advance(40_000);
    expect(manager.admissionProblem()).toEqual({ reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' });
    expect(manager.problem).toBe('node is shutting down');
    const message = 'Pod was terminated in response to imminent node shutdown.';
    expect(log).toEqual([
      'Shutdown: Shutdown manager detected shutdown event',
      'reported',
      `slow Terminated 20 true: ${message}`,
      `quick Terminated 3 true: ${message}`,
      'quick over',
      `critical Terminated 10 true: ${message}`,
      'critical over',
      'released',
    ]);
    notify(false);
    await clock.settle();
    expect(manager.problem).toBeUndefined();
    stop.abort();
    await clock.settle();
    await running;
    expect(log.slice(-2)).toEqual(['released', 'closed']);
  });
});

describe('openLogind', () => {
  let bus: FakeBus;
  let requests: string[] = [];

  beforeEach(async () => {
    requests = [];
    bus = await openFakeBus(({ member, body }) => {
      requests.push([member, ...body].join(' '));
      return member === 'Get' ? { signature: 'v', body: [{ type: 't', value: 30_000_000n }] } : {};
    });
  });

  afterEach(() => bus[Symbol.asyncDispose]());

  function signal(isShuttingDown: boolean): void {
    const manager = { path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager' };
    bus.signal({ ...manager, member: 'PrepareForShutdown', signature: 'b', body: [isShuttingDown] });
  }

  it('reads the inhibitor delay, and reports shutdowns and their cancellation', async () => {
    const notices: boolean[] = [];
    using source = await openLogind({
      socketPath: bus.socketPath,
      userId: 0,
      signal: new AbortController().signal,
      onShutdown: (is) => void notices.push(is),
    });
    expect(source.maxDelayMs).toBe(30_000);
    expect(requests).toEqual([
      'Hello',
      'Get org.freedesktop.login1.Manager InhibitDelayMaxUSec',
      "AddMatch type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'",
    ]);
    signal(true);
    signal(false);
    await expect.poll(() => notices).toEqual([true, false]);
  });

  it('reports a closed bus', async () => {
    using source = await openLogind({
      socketPath: bus.socketPath,
      userId: 0,
      signal: new AbortController().signal,
      onShutdown: () => {},
    });
    bus.disconnect();
    await source.closed;
  });

  it('gives up on a bus that speaks something else', async () => {
    const opening = openLogind({
      socketPath: bus.socketPath,
      userId: 0,
      signal: new AbortController().signal,
      onShutdown: () => {},
    });
    bus.server.once('connection', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n'));
    await expect(opening).rejects.toThrow('the bus refused the connection');
  });

  it('sends what it reads, whatever the texts', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string().filter((text) => !text.includes('\0')),
          { maxLength: 5 },
        ),
        fc.string({ minLength: 1 }),
        (body, member) => {
          const bytes = encodeCall(7, { destination: 'd', path: '/p', interface: 'i', member: member.replaceAll('\0', ''), body });
          expect(messageLength(bytes)).toBe(bytes.length);
          expect(decodeMessage(bytes)).toMatchObject({ type: 1, serial: 7, path: '/p', body });
        },
      ),
    );
  });
});
