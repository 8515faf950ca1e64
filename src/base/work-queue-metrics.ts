import type { Clock } from './clock.ts';
import type { MetricsRegistry } from './metrics.ts';

/** Told what happens to each key of a queue. */
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

/** Upstream's workqueue_* families, for the queue called `name`. */
export function workQueueMetrics<K>({ registry, name, clock }: WorkQueueMetricsOptions): QueueObserver<K> {
  const series = queueSeries(registry, name);
  const addedAt = new Map<K, number>();
  const startedAt = new Map<K, number>();
  const ages = () => [...startedAt.values()].map((start) => (clock.monotonic() - start) / 1000);
  series.unfinished.collect(() => ages().reduce((sum, age) => sum + age, 0));
  series.longestRunning.collect(() => Math.max(0, ...ages()));
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

const LABELS = ['name'] as const;

function queueSeries(registry: MetricsRegistry, name: string) {
  const of = { name };
  const gauge = (metric: string, help: string) => registry.gauge({ name: `workqueue_${metric}`, help, labels: LABELS }).with(of);
  const counter = (metric: string, help: string) => registry.counter({ name: `workqueue_${metric}`, help, labels: LABELS }).with(of);
  const histogram = (metric: string, help: string) =>
    registry.histogram({ name: `workqueue_${metric}`, help, labels: LABELS, buckets: DURATION_BUCKETS }).with(of);
  return {
    depth: gauge('depth', 'Keys that wait to be worked on'),
    adds: counter('adds_total', 'Keys added'),
    queued: histogram('queue_duration_seconds', 'How long a key waited before it was worked on'),
    worked: histogram('work_duration_seconds', 'How long the work on a key took'),
    unfinished: gauge('unfinished_work_seconds', 'Seconds of work in progress that work_duration_seconds does not show yet'),
    longestRunning: gauge('longest_running_processor_seconds', 'How long the longest running worker has been at its key'),
    retries: counter('retries_total', 'Keys added again by way of the rate limiter'),
  };
}
