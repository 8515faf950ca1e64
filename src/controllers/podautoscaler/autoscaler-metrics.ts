import type { Clock, MetricsRegistry } from '#base';
import type { Autoscaler } from './reconcile.ts';

export type ActionLabel = 'scale_up' | 'scale_down' | 'none';

const PREFIX = 'horizontal_pod_autoscaler_controller';
/** Exponential, from one millisecond. */
const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export function actionOf(desired: number, current: number): ActionLabel {
  if (desired === current) return 'none';
  return desired > current ? 'scale_up' : 'scale_down';
}

/** Upstream's metrics about autoscalers. */
export class AutoscalerMetrics {
  constructor(private readonly context: { readonly metrics: MetricsRegistry; readonly clock: Clock }) {}

  async observe(reconcile: () => Promise<ActionLabel>): Promise<void> {
    const begin = this.context.clock.monotonic();
    let labels: { action: ActionLabel; error: string } = { action: 'none', error: 'internal' };
    try {
      labels = { action: await reconcile(), error: 'none' };
    } finally {
      this.#count('reconciliations_total', 'Reconciliations of autoscalers.', labels);
      const help = 'The time that a reconciliation of an autoscaler takes.';
      this.#time({ name: 'reconciliation_duration_seconds', help }, labels, begin);
    }
  }

  /** Observes the computation of one metric: its proposal or its error. */
  async observeMetric<T extends { readonly replicas: number } | Error>(
    type: string,
    current: number,
    compute: () => Promise<T>,
  ): Promise<T> {
    const begin = this.context.clock.monotonic();
    const result = await compute();
    const seriesLabels =
      result instanceof Error ? { action: 'none', error: 'internal' } : { action: actionOf(result.replicas, current), error: 'none' };
    const labels = { ...seriesLabels, metric_type: type };
    this.#count('metric_computation_total', 'Computations of single metrics.', labels);
    const help = 'The time that the computation of a metric takes.';
    this.#time({ name: 'metric_computation_duration_seconds', help }, labels, begin);
    return result;
  }

  counted(autoscalers: number): void {
    const help = 'The number of autoscalers.';
    this.context.metrics
      .gauge({ name: `${PREFIX}_num_horizontal_pod_autoscalers`, help })
      .with({})
      .set(autoscalers);
  }

  desired({ metadata, status }: Autoscaler): void {
    this.#desired()
      .with({ namespace: metadata.namespace ?? '', hpa_name: metadata.name })
      .set(status?.desiredReplicas ?? 0);
  }

  forget({ name, namespace = '' }: { readonly name: string; readonly namespace?: string | undefined }): void {
    this.#desired().remove({ namespace, hpa_name: name });
  }

  #desired() {
    const labels = ['namespace', 'hpa_name'] as const;
    return this.context.metrics.gauge({ name: `${PREFIX}_desired_replicas`, help: 'The number of pods that autoscalers want.', labels });
  }

  #count<L extends string>(name: string, help: string, labels: Record<L, string>): void {
    this.context.metrics
      .counter({ name: `${PREFIX}_${name}`, help, labels: Object.keys(labels) as L[] })
      .with(labels)
      .inc();
  }

  #time<L extends string>(metric: { readonly name: string; readonly help: string }, labels: Record<L, string>, begin: number): void {
    const options = { name: `${PREFIX}_${metric.name}`, help: metric.help, labels: Object.keys(labels) as L[], buckets: BUCKETS };
    const seconds = (this.context.clock.monotonic() - begin) / 1000;
    this.context.metrics.histogram(options).with(labels).observe(seconds);
  }
}
