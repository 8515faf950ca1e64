import { createLogger, Heap, KeyedHeap, MetricsRegistry, realClock, seededRandom, VirtualClock, WorkQueue } from '#base';
import type { Benchmark } from './harness.ts';

const random = seededRandom('bench');
const numbers = Array.from({ length: 1_000 }, () => random.int(1_000_000));
const ascending = (a: number, b: number) => a - b;

function heapSort(): number {
  const heap = new Heap(ascending);
  for (const n of numbers) heap.push(n);
  let sum = 0;
  while (heap.size > 0) sum += heap.pop() as number;
  return sum;
}

function keyedHeapSort(): number {
  const heap = new KeyedHeap<number, { key: number; n: number }>({ keyOf: (item) => item.key, compare: (a, b) => a.n - b.n });
  numbers.forEach((n, key) => void heap.set({ key, n }));
  let sum = 0;
  while (heap.size > 0) sum += heap.pop()?.n ?? 0;
  return sum;
}

const keys = Array.from({ length: 100 }, (_, i) => `namespace/pod-${i}`);
const queue = new WorkQueue<string>({ clock: realClock });

/** Adds every key twice and works all off: dedup and hand-out. */
async function workOff(): Promise<void> {
  for (const key of keys) queue.add(key);
  for (const key of keys) queue.add(key);
  while (queue.length > 0) queue.done((await queue.get()) as string);
}

async function setOff(): Promise<void> {
  const set = new Set<string>();
  for (const key of keys) set.add(key);
  for (const key of keys) set.add(key);
  for (const key of set) {
    await Promise.resolve(key);
    set.delete(key);
  }
}

const counter = new MetricsRegistry().counter({ name: 'c', help: '', labels: ['verb', 'code'] });
const series = counter.with({ verb: 'GET', code: 200 });
const plain = { value: 0 };
const counts = new Map<string, number>();

const logger = createLogger({ clock: realClock, write: () => {} }).child({ component: 'apiserver' });
const fields = { verb: 'GET', path: '/api/v1/namespaces/default/pods', code: 200, ms: 1.5 };

const clock = new VirtualClock();
const tick = () => void clock.setTimer(1, tick);
tick();

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'base/heap: 1,000 in and out',
    baseline: { name: 'sort a copy', run: () => numbers.toSorted(ascending).reduce((sum, n) => sum + n, 0) },
    subject: { name: 'Heap', run: heapSort },
  },
  {
    kind: 'micro',
    name: 'base/keyed-heap: 1,000 in and out',
    baseline: { name: 'Heap', run: heapSort },
    subject: { name: 'KeyedHeap', run: keyedHeapSort },
  },
  {
    kind: 'micro',
    name: 'base/work-queue: 100 keys, each twice',
    baseline: { name: 'Set', run: setOff },
    subject: { name: 'WorkQueue', run: workOff },
  },
  {
    kind: 'micro',
    name: 'base/virtual-clock: move to the next timer',
    baseline: { name: 'a turn of the event loop', run: () => new Promise((resolve) => setImmediate(resolve)) },
    subject: { name: 'VirtualClock.advance', run: () => clock.advance(1) },
  },
  {
    kind: 'micro',
    name: 'base/metrics: count with a series at hand',
    baseline: { name: 'x.value++', run: () => plain.value++ },
    subject: { name: 'series.inc()', run: () => series.inc() },
  },
  {
    kind: 'micro',
    name: 'base/metrics: find a series and count',
    baseline: {
      name: 'Map by text',
      run: () => {
        const key = `GET,${200}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      },
    },
    subject: { name: 'counter.with().inc()', run: () => counter.with({ verb: 'GET', code: 200 }).inc() },
  },
  {
    kind: 'micro',
    name: 'base/logger: a line with five fields',
    baseline: {
      name: 'JSON.stringify',
      run: () => JSON.stringify({ time: new Date().toISOString(), level: 'info', message: 'served', ...fields }),
    },
    subject: { name: 'Logger.info', run: () => logger.info('served', fields) },
  },
  {
    kind: 'micro',
    name: 'base/logger: a line below the level',
    baseline: { name: 'an empty call', run: () => {} },
    subject: { name: 'Logger.debug', run: () => logger.debug('served', fields) },
  },
];
