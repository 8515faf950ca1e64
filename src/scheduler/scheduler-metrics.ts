import type { MetricsRegistry } from '#base';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

const DURATION_BUCKETS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];
const QUEUES = ['active', 'backoff', 'unschedulable', 'gated'] as const;

/** The scheduler's metrics, with upstream's names. */
export class SchedulerMetrics {
  readonly #attempts;
  readonly #attemptDurations;
  readonly #algorithmDuration;
  readonly #sliDurations;
  readonly #podAttempts;
  readonly #incoming;
  readonly #preemptionAttempts;
  readonly #preemptionVictims;
  readonly #registry: MetricsRegistry;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    const labels = ['result', 'profile'] as const;
    this.#attempts = registry.counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Number of attempts to schedule pods, by the result.',
      labels,
    });
    this.#attemptDurations = registry.histogram({
      name: 'scheduler_scheduling_attempt_duration_seconds',
      help: 'How long an attempt to schedule took, with its binding.',
      labels,
      buckets: DURATION_BUCKETS,
    });
    this.#algorithmDuration = registry
      .histogram({
        name: 'scheduler_scheduling_algorithm_duration_seconds',
        help: 'How long finding a node took.',
        buckets: DURATION_BUCKETS,
      })
      .with({});
    this.#sliDurations = registry.histogram({
      name: 'scheduler_pod_scheduling_sli_duration_seconds',
      help: 'How long pods took from the first attempt to being bound.',
      labels: ['attempts'],
      buckets: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1310.72],
    });
    this.#podAttempts = registry
      .histogram({ name: 'scheduler_pod_scheduling_attempts', help: 'How many attempts a pod took.', buckets: [1, 2, 4, 8, 16] })
      .with({});
    this.#incoming = registry.counter({
      name: 'scheduler_queue_incoming_pods_total',
      help: 'Number of pods put into queues, by event and queue.',
      labels: ['queue', 'event'],
    });
    this.#preemptionAttempts = registry
      .counter({ name: 'scheduler_preemption_attempts_total', help: 'Number of attempts to make room by preemption.' })
      .with({});
    this.#preemptionVictims = registry
      .histogram({
        name: 'scheduler_preemption_victims',
        help: 'Number of pods that were preempted at a time.',
        buckets: [1, 2, 4, 8, 16, 32, 64],
      })
      .with({});
  }

  watchQueue(queue: SchedulingQueue): void {
    const pending = this.#registry.gauge({ name: 'scheduler_pending_pods', help: 'Number of pending pods, by queue.', labels: ['queue'] });
    for (const name of QUEUES) pending.with({ queue: name }).collect(() => queue.sizes[name]);
  }

  watchCache(cache: { readonly nodes: readonly unknown[]; readonly podCount: number; readonly assumedPodCount: number }): void {
    const size = this.#registry.gauge({ name: 'scheduler_cache_size', help: 'Number of objects in the cache.', labels: ['type'] });
    size.with({ type: 'nodes' }).collect(() => cache.nodes.length);
    size.with({ type: 'pods' }).collect(() => cache.podCount);
    size.with({ type: 'assumed_pods' }).collect(() => cache.assumedPodCount);
  }

  queued(queue: string, event: string): void {
    this.#incoming.with({ queue, event }).inc();
  }

  observeSearch(seconds: number): void {
    this.#algorithmDuration.observe(seconds);
  }

  attempted(result: AttemptResult, profile: string, seconds: number): void {
    this.#attempts.with({ result, profile }).inc();
    this.#attemptDurations.with({ result, profile }).observe(seconds);
  }

  bound(attempts: number, seconds: number): void {
    this.#podAttempts.observe(attempts);
    this.#sliDurations.with({ attempts: attempts >= 16 ? '16+' : String(attempts) }).observe(seconds);
  }

  preempted(victims: number): void {
    this.#preemptionAttempts.inc();
    if (victims > 0) this.#preemptionVictims.observe(victims);
  }
}
