import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coordination, core } from '#api';
import { MetricsRegistry, type Random, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client, EventSink, LeaderElector, SharedInformer, type Transport, type TransportRequest, type WatchSink } from '#client';
import { StatusError } from '#machinery';
import { openMemoryStore } from '#store';
import { startApiServer } from '../server.ts';
import { inProcessTransport } from './in-process-transport.ts';

/** Faults between a client and its server. */
interface Faults {
  /** Requests fail. */
  isDown: boolean;
  /** Watches end, or must start over, as soon as the next event arrives. */
  watch: 'fine' | 'ends' | 'expires';
}

/** A server, and a way to it that can be broken. Everything runs on virtual time. */
function serve(seed = 1) {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const server = startApiServer(
    { version: { major: '1', minor: '36' }, anonymousAuth: false },
    { store: openMemoryStore({ clock }), clock, random, logger: silentLogger, metrics: new MetricsRegistry(), admission: [] },
  );
  const direct = inProcessTransport(server.handle, { name: 'tester', groups: [] }, { clock });
  const faults: Faults = { isDown: false, watch: 'fine' };
  const deps = { clock, random, logger: silentLogger };
  return { clock, random, deps, faults, client: new Client(direct), shaky: new Client(shakyTransport(direct, faults)) };
}

function shakyTransport(inner: Transport, faults: Faults): Transport {
  const away = () => new Error('connect ECONNREFUSED');
  const guarded =
    <T>(call: (request: TransportRequest) => Promise<T>) =>
    async (request: TransportRequest) => {
      if (faults.isDown) throw away();
      return call(request);
    };
  return {
    isLocal: false,
    request: guarded((request) => inner.request(request)),
    text: guarded((request) => inner.text(request)),
    stream: (request) => inner.stream(request),
    watch: (request, sink) => shakyWatch(inner, request, { sink, faults, away }),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

interface ShakyWatch {
  readonly sink: WatchSink;
  readonly faults: Faults;
  readonly away: () => Error;
}

function shakyWatch(inner: Transport, request: TransportRequest, { sink, faults, away }: ShakyWatch): Disposable {
  let isOver = false;
  const finish = (settle: () => void) => {
    if (isOver) return;
    isOver = true;
    watch?.[Symbol.dispose]();
    settle();
  };
  const pass = (deliver: () => void) => {
    if (isOver) return;
    if (faults.watch === 'ends') finish(() => sink.end());
    else if (faults.watch === 'expires') finish(() => sink.error(StatusError.expired('too old')));
    else deliver();
  };
  let watch: Disposable | undefined;
  if (faults.isDown) {
    queueMicrotask(() => finish(() => sink.error(away())));
    return { [Symbol.dispose]: () => finish(() => {}) };
  }
  watch = inner.watch(request, {
    event: (type, object) => pass(() => sink.event(type, object)),
    bookmark: (version, initial) => pass(() => sink.bookmark(version, initial)),
    error: (error) => finish(() => sink.error(error)),
    end: () => finish(() => sink.end()),
  });
  return { [Symbol.dispose]: () => finish(() => {}) };
}

/** Other namespaces have maps of their own. */
const IN_X = { namespace: 'x' };

describe('an informer', () => {
  it('converges through lost watches, expired versions and an unavailable server', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('put', 'delete'), name }),
      fc.record({ do: fc.constant('watch'), watch: fc.constantFrom('fine', 'ends', 'expires') }),
      fc.record({ do: fc.constant('down'), isDown: fc.boolean() }),
      fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 0, max: 60_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer(), async (steps, seed) => {
        const { clock, client, shaky, faults, deps } = serve(seed);
        const maps = client.of(core.ConfigMap);
        const informer = new SharedInformer(shaky.of(core.ConfigMap), deps, IN_X);
        const mirror = new Map<string, core.ConfigMap>();
        informer.addHandler({
          add: (map) => {
            expect(mirror.has(map.metadata.name)).toBe(false);
            mirror.set(map.metadata.name, map);
          },
          update: (before, after) => {
            expect(mirror.get(after.metadata.name)).toBe(before);
            mirror.set(after.metadata.name, after);
          },
          delete: (map) => expect(mirror.delete(map.metadata.name)).toBe(true),
        });
        const stop = new AbortController();
        informer.start(stop.signal);
        let version = 0;
        for (const action of steps) await perform(action);
        async function perform(action: (typeof steps)[number]): Promise<void> {
          if ('ms' in action) await clock.advance(action.ms);
          else if ('isDown' in action) faults.isDown = action.isDown;
          else if ('watch' in action) faults.watch = action.watch as Faults['watch'];
          else if (action.do === 'delete') await maps.delete({ name: action.name, namespace: 'x' }).catch(() => {});
          else await put(action.name);
        }
        async function put(key: string): Promise<void> {
          version++;
          const object = { metadata: { name: key, namespace: 'x' }, data: { version: String(version) } };
          await maps.create(object).catch(() => maps.patch(object.metadata, { data: object.data }));
        }
        faults.isDown = false;
        faults.watch = 'fine';
        await clock.advance(120_000);
        const truth = (await maps.list(IN_X)).items;
        expect(informer.hasSynced).toBe(true);
        expect(informer.lister.list().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))).toEqual(truth);
        expect([...mirror.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))).toEqual(truth);
        stop.abort();
        await informer.stop();
      }),
      { numRuns: 15 },
    );
  }, 30_000);

  it('reports an object that was recreated during a relist as deleted and added', async () => {
    const { clock, client, shaky, faults, deps } = serve();
    const maps = client.of(core.ConfigMap);
    const map = { metadata: { name: 'a', namespace: 'x' } };
    const first = await maps.create(map);
    const informer = new SharedInformer(shaky.of(core.ConfigMap), deps, IN_X);
    const logLines: string[] = [];
    informer.addHandler({
      add: ({ metadata }) => logLines.push(`add ${metadata.uid}`),
      update: () => logLines.push('update'),
      delete: ({ metadata }) => logLines.push(`delete ${metadata.uid}`),
    });
    const stop = new AbortController();
    informer.start(stop.signal);
    await clock.settle();
    faults.watch = 'expires';
    faults.isDown = true;
    await maps.delete(first.metadata);
    const second = await maps.create(map);
    faults.watch = 'fine';
    faults.isDown = false;
    await clock.advance(60_000);
    expect(logLines).toEqual([`add ${first.metadata.uid}`, `delete ${first.metadata.uid}`, `add ${second.metadata.uid}`]);
    stop.abort();
    await informer.stop();
  });

  it('goes on when a listener fails, and leaves no timer when stopped while it waits', async () => {
    const { clock, client, shaky, faults, deps } = serve();
    const informer = new SharedInformer(shaky.of(core.ConfigMap), deps, IN_X);
    const seen: string[] = [];
    informer.addHandler({
      add: () => {
        throw new Error('mine');
      },
    });
    informer.addHandler({ add: ({ metadata }) => seen.push(metadata.name) });
    // The running server has timers of its own.
    await clock.settle();
    const timers = clock.pendingTimers;
    const stop = new AbortController();
    informer.start(stop.signal);
    await clock.settle();
    await client.of(core.ConfigMap).create({ metadata: { name: 'a', namespace: 'x' } });
    expect(seen).toEqual(['a']);
    faults.isDown = true;
    faults.watch = 'ends';
    await client.of(core.ConfigMap).create({ metadata: { name: 'b', namespace: 'x' } });
    await clock.advance(5000);
    stop.abort();
    await informer.stop();
    expect(clock.pendingTimers).toBe(timers);
    const never = new SharedInformer(shaky.of(core.Secret), deps);
    never.start(stop.signal);
    await never.stop();
    await expect(never.synced).rejects.toThrow('stopped before it had synced');
  });
});

describe('leader election', () => {
  interface Candidate {
    readonly identity: string;
    readonly faults: Faults;
    readonly stop: AbortController;
    readonly done: Promise<void>;
  }

  function election() {
    const { clock, random, client } = serve();
    const leading: string[] = [];
    const join = (identity: string, releaseOnStop = false): Candidate => {
      const faults: Faults = { isDown: false, watch: 'fine' };
      const stop = new AbortController();
      const own: Random = seededRandom(identity);
      const deps = { client: new Client(shakyTransport(client.transport, faults)), clock, random: own, logger: silentLogger };
      const elector = new LeaderElector({ lease: { name: 'l', namespace: 'kube-system' }, identity, releaseOnStop }, deps);
      const done = elector.run(stop.signal, async (term) => {
        leading.push(identity);
        expect(leading).toHaveLength(1);
        await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve(), { once: true }));
        leading.splice(leading.indexOf(identity), 1);
      });
      done.catch(() => {});
      return { identity, faults, stop, done };
    };
    const lease = () => client.of(coordination.Lease).get({ name: 'l', namespace: 'kube-system' });
    return { clock, random, leading, join, lease };
  }

  it('has one leader, and another after the lease expires', async () => {
    const { clock, leading, join, lease } = election();
    const a = join('a');
    await clock.advance(1000);
    const b = join('b');
    await clock.advance(60_000);
    expect(leading).toEqual(['a']);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    a.faults.isDown = true;
    await clock.advance(30_000);
    await expect(a.done).rejects.toThrow('leader election lost');
    expect(leading).toEqual(['b']);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    b.stop.abort();
    await b.done;
  });

  it('is handed over at once by a leader that releases on a clean stop', async () => {
    const { clock, leading, join } = election();
    const a = join('a', true);
    await clock.advance(1000);
    const b = join('b');
    a.stop.abort();
    await a.done;
    await clock.advance(5000);
    expect(leading).toEqual(['b']);
    b.stop.abort();
    await b.done;
  });

  it('never has two leaders, whichever candidate is disconnected', async () => {
    const step = fc.record({ component: fc.nat(2), isDown: fc.boolean(), ms: fc.integer({ min: 0, max: 20_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { clock, leading, join } = election();
        await clock.settle();
        const timersOfServer = clock.pendingTimers;
        const candidates = ['a', 'b', 'c'].map((identity) => join(identity));
        for (const { component, isDown, ms } of steps) {
          candidates[component]!.faults.isDown = isDown;
          await clock.advance(ms);
          expect(leading.length).toBeLessThanOrEqual(1);
        }
        for (const { stop } of candidates) stop.abort();
        await Promise.all(candidates.map(({ done }) => done.catch(() => {})));
        expect(clock.pendingTimers).toBeLessThanOrEqual(timersOfServer);
      }),
      { numRuns: 8 },
    );
  }, 30_000);

  it.each([
    [{ leaseDurationMs: 10_000 }, 'leaseDuration must be greater than renewDeadline'],
    [{ retryPeriodMs: 9_000 }, 'renewDeadline must be greater than retryPeriod*JitterFactor'],
    [{ identity: '' }, 'needs an identity'],
  ])('refuses %j', (config, message) => {
    const { client, deps } = serve();
    expect(() => new LeaderElector({ lease: { name: 'l', namespace: 'x' }, identity: 'a', ...config }, { client, ...deps })).toThrow(
      message,
    );
  });
});

describe('recording events', () => {
  it('writes them about an object, counts repeats, and tries again when the server was away', async () => {
    const { clock, client, shaky, faults, deps } = serve();
    const stop = new AbortController();
    const sink = new EventSink({ ...deps, client: shaky }, stop.signal);
    const events = sink.recorder({ component: 'tester', host: 'here' });
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'x', uid: '1', resourceVersion: '5' } };
    events.normal(pod, 'Started', 'it runs');
    await sink.flushed();
    faults.isDown = true;
    events.normal(pod, 'Started', 'it runs');
    events.warning(pod, 'Failed', 'it does not');
    await clock.advance(1000);
    faults.isDown = false;
    await clock.advance(60_000);
    await sink.flushed();
    const { items } = await client.of(core.Event).list({ namespace: 'x' });
    expect(items.map(({ reason, count, type, source, involvedObject }) => ({ reason, count, type, source, involvedObject }))).toEqual([
      {
        reason: 'Started',
        count: 2,
        type: 'Normal',
        source: { component: 'tester', host: 'here' },
        involvedObject: { kind: 'Pod', apiVersion: 'v1', name: 'p', namespace: 'x', uid: '1', resourceVersion: '5' },
      },
      expect.objectContaining({ reason: 'Failed', count: 1, type: 'Warning' }),
    ]);
    stop.abort();
  });

  it('writes no more of them in a second than its rate allows', async () => {
    const { clock, client, deps } = serve();
    const stop = new AbortController();
    const sink = new EventSink({ ...deps, client, rate: { perSecond: 1, burst: 2 } }, stop.signal);
    const events = sink.recorder({ component: 'tester' });
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'x', uid: '1', resourceVersion: '5' } };
    for (const reason of ['A', 'B', 'C', 'D']) events.normal(pod, reason, 'it runs');
    const counts: number[] = [];
    for (const ms of [500, 1000, 1000]) {
      await clock.advance(ms);
      counts.push((await client.of(core.Event).list({ namespace: 'x' })).items.length);
    }
    expect(counts).toEqual([2, 3, 4]);
    stop.abort();
  });

  it('writes the events of thousands of objects at once, and of one object no more than the spam filter lets through', async () => {
    const { client, deps } = serve();
    const stop = new AbortController();
    const sink = new EventSink({ ...deps, client }, stop.signal);
    const events = sink.recorder({ component: 'tester' });
    const about = (kind: string, name: string) => ({ kind, apiVersion: 'v1', metadata: { name, namespace: 'x', uid: name } });
    for (let i = 0; i < 2_000; i++) events.normal(about('ReplicaSet', 'many'), 'SuccessfulCreate', `Created pod: many-${i}`);
    for (let i = 0; i < 2_000; i++) events.normal(about('Pod', `p${i}`), 'Started', 'it runs');
    await sink.flushed();
    const { items } = await client.of(core.Event).list({ namespace: 'x' });
    const kinds = items.map(({ involvedObject }) => involvedObject.kind);
    expect(kinds.filter((kind) => kind === 'Pod')).toHaveLength(2_000);
    expect(items.filter(({ involvedObject }) => involvedObject.kind === 'ReplicaSet').map(({ count }) => count)).toEqual([
      ...Array<number>(9).fill(1),
      16,
    ]);
    stop.abort();
  });

  it('writes the events of one object in the order in which they were recorded', async () => {
    const { client, deps } = serve();
    const stop = new AbortController();
    const sink = new EventSink({ ...deps, client }, stop.signal);
    const events = sink.recorder({ component: 'tester' });
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'x', uid: '1' } };
    const reasons = ['Pulling', 'Pulled', 'Created', 'Started', 'Killing'];
    for (const reason of reasons) events.normal(pod, reason, 'it goes on');
    await sink.flushed();
    const { items } = await client.of(core.Event).list({ namespace: 'x' });
    const written = items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    expect(written.map(({ reason }) => reason)).toEqual(reasons);
    stop.abort();
  });
});
