import { type Clock, type Counter, type Histogram, type MetricsRegistry, realClock } from '#base';
import { LATENCY_BUCKETS } from '../request-metrics.ts';

export type StoreOperation = 'get' | 'create' | 'update' | 'delete';

interface OperationSeries {
  readonly seconds: Histogram;
  readonly total: Counter;
  readonly errors: Counter;
}

/** How the store answers for one resource, under the names upstream has for etcd, whatever the store is. */
export class StoreMetrics {
  // What is measured is the machine, not the cluster's own time.
  readonly #clock: Clock = realClock;
  readonly #series = new Map<StoreOperation, OperationSeries>();

  constructor(
    private readonly metrics: MetricsRegistry,
    private readonly labels: { readonly group: string; readonly resource: string },
  ) {}

  measure<T>(operation: StoreOperation, ask: () => Promise<T>): Promise<T> {
    const { seconds, total, errors } = this.#of(operation);
    const begun = this.#clock.monotonic();
    const end = () => {
      total.inc();
      seconds.observe((this.#clock.monotonic() - begun) / 1000);
    };
    const answer = ask();
    answer.then(end, () => {
      errors.inc();
      end();
    });
    return answer;
  }

  #of(operation: StoreOperation): OperationSeries {
    const known = this.#series.get(operation);
    if (known) return known;
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
