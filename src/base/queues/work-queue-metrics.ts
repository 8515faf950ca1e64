import { maxOf } from '../long-lists.ts';
import type { MetricsRegistry } from '../metrics/metrics.ts';
import type { Clock } from '../time/clock.ts';

/** Observes the keys of a queue. */
export interface QueueObserver<K> {
  added(key: K): void;
  started(key: K): void;
  done(key: K): void;
  retried(key: K): void;
}

export const silentObserver: QueueObserver<unknown> = { added() {}, started() {}, done() {}, retried() {} };

/** Upstream's buckets: 10 ns to 10 s, in powers of ten. */
const DURATION_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

export interface WorkQueueMetricsOptions {
  registry: MetricsRegistry;
  name: string;
  clock: Clock;
}

/** Upstream's workqueue_* metrics of the queue `name`. */
export function workQueueMetrics<K>({ registry, name, clock }: WorkQueueMetricsOptions): QueueObserver<K> {
  const series = queueSeries(registry, name);
  const addedAt = new Map<K, number>();
  const startedAt = new Map<K, number>();
  const ages = () => [...startedAt.values()].map((start) => (clock.monotonic() - start) / 1000);
  series.unfinished.collect(() => ages().reduce((sum, age) => sum + age, 0));
  series.longestRunning.collect(() => maxOf(ages(), 0));
  return {
    added(key) {
      series.adds.inc();
      series.depth.inc();
      if (!addedAt.has(key)) addedAt.set(key, clock.monotonic());
    },
    started(key) {
      const now = clock.monotonic();
      series.depth.dec();
      series.queued.observe((now - (addedAt.get(key) ?? now)) / 1000);
      addedAt.delete(key);
      startedAt.set(key, now);
    },
    done(key) {
      const now = clock.monotonic();
      series.worked.observe((now - (startedAt.get(key) ?? now)) / 1000);
      startedAt.delete(key);
    },
    retried: () => series.retries.inc(),
  };
}

const labels = ['name'] as const;
const FAMILIES = {
  depth: { name: 'workqueue_depth', help: 'Keys that wait to be worked on', labels },
  adds: { name: 'workqueue_adds_total', help: 'Keys added', labels },
  queued: {
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key waited before it was worked on',
    labels,
    buckets: DURATION_BUCKETS,
  },
  worked: { name: 'workqueue_work_duration_seconds', help: 'How long the work on a key took', labels, buckets: DURATION_BUCKETS },
  unfinished: {
    name: 'workqueue_unfinished_work_seconds',
    help: 'Seconds of work in progress that work_duration_seconds does not show yet',
    labels,
  },
  longestRunning: {
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How long the longest running worker has been at its key',
    labels,
  },
  retries: { name: 'workqueue_retries_total', help: 'Keys added again by way of the rate limiter', labels },
};

function queueSeries(registry: MetricsRegistry, name: string) {
  const of = { name };
  return {
    depth: registry.gauge(FAMILIES.depth).with(of),
    adds: registry.counter(FAMILIES.adds).with(of),
    queued: registry.histogram(FAMILIES.queued).with(of),
    worked: registry.histogram(FAMILIES.worked).with(of),
    unfinished: registry.gauge(FAMILIES.unfinished).with(of),
    longestRunning: registry.gauge(FAMILIES.longestRunning).with(of),
    retries: registry.counter(FAMILIES.retries).with(of),
  };
}
