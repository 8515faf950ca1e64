import type { Counter, Family, Histogram, MetricsRegistry } from '#base';

const PREFIX = 'apiserver_flowcontrol_';
const LABELS = ['priority_level', 'flow_schema'] as const;
const DURATIONS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const LENGTHS = [0, 10, 20, 30, 50, 100, 200, 500, 1000];

type Reason = 'queue-full' | 'concurrency-limit' | 'time-out';

/** Cached series of one flow schema: looking them up costs more than counting. */
export interface SchemaMetrics {
  readonly dispatched: Counter;
  readonly executionSeconds: Histogram;
  readonly estimatedSeats: Histogram;
  readonly waitSeconds: Histogram;
  readonly rejectedWaitSeconds: Histogram;
  readonly queueLength: Histogram;
  readonly noAccommodation: Counter;
  readonly watchCount: Histogram;
  rejected(reason: Reason): Counter;
}

/** Current values, read on scrape. */
export interface SchemaGauges {
  readonly executing: number;
  readonly executingSeats: number;
  readonly waiting: number;
  readonly waitingSeats: number;
}

export interface LevelGauges {
  readonly nominal: number;
  readonly lowest: number;
  readonly highest: number;
  readonly limit: number;
  readonly target: number;
  readonly highWatermark: number;
  readonly average: number;
  readonly deviation: number;
  readonly smoothed: number;
  readonly virtualTime: number;
}

/** Upstream's metric names. */
export class FlowMetrics {
  readonly #registry: MetricsRegistry;
  readonly #rejected: Family<Counter, 'priority_level' | 'flow_schema' | 'reason'>;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    this.#rejected = registry.counter({
      name: `${PREFIX}rejected_requests_total`,
      help: 'Requests that were rejected, and why.',
      labels: [...LABELS, 'reason'],
    });
  }

  schema(level: string, name: string, gauges: SchemaGauges): SchemaMetrics {
    const labels = { priority_level: level, flow_schema: name };
    const gauge = (metric: string, help: string, read: () => number) =>
      this.#registry
        .gauge({ name: PREFIX + metric, help, labels: LABELS })
        .with(labels)
        .collect(read);
    gauge('current_executing_requests', 'Requests that are being answered.', () => gauges.executing);
    gauge('current_executing_seats', 'Seats of requests that are being answered.', () => gauges.executingSeats);
    gauge('current_inqueue_requests', 'Requests that wait in queues.', () => gauges.waiting);
    gauge('current_inqueue_seats', 'Seats of requests that wait in queues.', () => gauges.waitingSeats);
    const rejected = new Map<Reason, Counter>();
    return {
      ...this.#series(labels),
      rejected: (reason) => {
        const counter = rejected.get(reason) ?? this.#rejected.with({ ...labels, reason });
        rejected.set(reason, counter);
        return counter;
      },
    };
  }

  #series(labels: { priority_level: string; flow_schema: string }): Omit<SchemaMetrics, 'rejected'> {
    const counter = (metric: string, help: string) => this.#registry.counter({ name: PREFIX + metric, help, labels: LABELS }).with(labels);
    const histogram = (metric: string, help: string, buckets: readonly number[]) =>
      this.#registry.histogram({ name: PREFIX + metric, help, labels: LABELS, buckets }).with(labels);
    const waits = this.#registry.histogram({
      name: `${PREFIX}request_wait_duration_seconds`,
      help: 'How long requests waited in their queues.',
      labels: [...LABELS, 'execute'],
      buckets: DURATIONS,
    });
    const executions = this.#registry.histogram({
      name: `${PREFIX}request_execution_seconds`,
      help: 'How long requests took, of watches their beginning.',
      labels: [...LABELS, 'type'],
      buckets: DURATIONS,
    });
    return {
      dispatched: counter('dispatched_requests_total', 'Requests that were let through.'),
      noAccommodation: counter('request_dispatch_no_accommodation_total', 'How often the next request found too few seats.'),
      executionSeconds: executions.with({ ...labels, type: 'regular' }),
      estimatedSeats: histogram('work_estimated_seats', 'How many seats requests take.', [1, 2, 4, 10]),
      waitSeconds: waits.with({ ...labels, execute: 'true' }),
      rejectedWaitSeconds: waits.with({ ...labels, execute: 'false' }),
      queueLength: histogram('request_queue_length_after_enqueue', 'How long queues are when a request joins them.', LENGTHS),
      watchCount: histogram('watch_count_samples', 'How many watch what is written.', [0, 1, 10, 100, 1000, 10_000]),
    };
  }

  level(name: string, read: () => LevelGauges): void {
    const gauge = (metric: string, help: string, pick: (gauges: LevelGauges) => number) =>
      this.#registry
        .gauge({ name: PREFIX + metric, help, labels: ['priority_level'] })
        .with({ priority_level: name })
        .collect(() => pick(read()));
    gauge('nominal_limit_seats', 'Seats that the level has by its share.', ({ nominal }) => nominal);
    gauge('lower_limit_seats', 'Seats that the level keeps whatever it lends.', ({ lowest }) => lowest);
    gauge('upper_limit_seats', 'Seats that the level has at most with what it borrows.', ({ highest }) => highest);
    gauge('current_limit_seats', 'Seats that the level has now.', ({ limit }) => limit);
    gauge('target_seats', 'Seats that the level was to have at the last adjustment.', ({ target }) => target);
    gauge('demand_seats_high_watermark', 'The most seats asked for in the last period.', ({ highWatermark }) => highWatermark);
    gauge('demand_seats_average', 'Seats asked for in the last period on average.', ({ average }) => average);
    gauge('demand_seats_stdev', 'The standard deviation of seats asked for in the last period.', ({ deviation }) => deviation);
    gauge('demand_seats_smoothed', 'Seats asked for, smoothed.', ({ smoothed }) => smoothed);
    gauge('current_r', 'The virtual time of the level.', ({ virtualTime }) => virtualTime);
  }
}
