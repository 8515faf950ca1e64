import { type Clock, type Counter, type Histogram, type MetricsRegistry, realClock } from '#base';
import { LATENCY_BUCKETS } from './latency-buckets.ts';

export type StoreOperation = 'get' | 'create' | 'update' | 'delete';

interface OperationSeries {
  readonly seconds: Histogram;
  readonly total: Counter;
  readonly errors: Counter;
}

/** Store latency by resource, under upstream's etcd metric names for every store. */
export class StoreMetrics {
  // Real time: this measures the machine.
  readonly #clock: Clock = realClock;
  readonly #series = new Map<StoreOperation, OperationSeries>();

  constructor(
    private readonly metrics: MetricsRegistry,
    private readonly labels: { readonly group: string; readonly resource: string },
  ) {}

  measure<T>(operation: StoreOperation, operate: () => Promise<T>): Promise<T> {
    const { seconds, total, errors } = this.#of(operation);
    const startMs = this.#clock.monotonic();
    const end = () => {
      total.inc();
      seconds.observe((this.#clock.monotonic() - startMs) / 1000);
    };
    const result = operate();
    result.then(end, () => {
      errors.inc();
      end();
    });
    return result;
  }

  #of(operation: StoreOperation): OperationSeries {
    const existing = this.#series.get(operation);
    if (existing) return existing;
    const labels = { operation, ...this.labels };
    const names = ['operation', 'group', 'resource'] as const;
    const series = {
      seconds: this.metrics
        .histogram({ name: 'etcd_request_duration_seconds', help: 'Seconds the store took.', labels: names, buckets: LATENCY_BUCKETS })
        .with(labels),
      total: this.metrics.counter({ name: 'etcd_requests_total', help: 'Requests to the store.', labels: names }).with(labels),
      errors: this.metrics
        .counter({ name: 'etcd_request_errors_total', help: 'Requests that the store failed.', labels: names })
        .with(labels),
    };
    this.#series.set(operation, series);
    return series;
  }
}
