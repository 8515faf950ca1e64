import type { Clock, MetricsRegistry } from '#base';
import { StatusError } from '#machinery';
import type { Webhook } from './webhook.ts';
import { WebhookCallError } from './webhook-error.ts';

export interface WebhookCallLabels {
  readonly webhook: Webhook;
  readonly type: 'admit' | 'validating';
  readonly operation: string;
}

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const FAILED_CALL_CODE = 500;

/** Calls of admission webhooks, under upstream's names. */
export class WebhookMetrics {
  readonly #metrics: MetricsRegistry;
  readonly #clock: Clock;

  /** `clock`: real time. */
  constructor(metrics: MetricsRegistry, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** Counts the call, and settles as it does. */
  async measured<T>(labels: WebhookCallLabels, call: () => Promise<T>): Promise<T> {
    const begunMs = this.#clock.monotonic();
    const seconds = () => (this.#clock.monotonic() - begunMs) / 1000;
    try {
      const answer = await call();
      this.#observe(labels, { seconds: seconds(), code: 200, rejected: false });
      return answer;
    } catch (error) {
      this.#failed(labels, seconds(), error);
      throw error;
    }
  }

  #failed(labels: WebhookCallLabels, seconds: number, error: unknown): void {
    const { webhook, type } = labels;
    if (error instanceof WebhookCallError) {
      if (webhook.failsOpen) this.#failOpen(webhook.name, type);
      else this.#reject(labels, 'calling_webhook_error', FAILED_CALL_CODE);
      this.#observe(labels, { seconds, code: FAILED_CALL_CODE, rejected: !webhook.failsOpen });
    } else {
      const code = error instanceof StatusError ? error.code : 0;
      this.#reject(labels, code === 0 ? 'apiserver_internal_error' : 'no_error', code);
      this.#observe(labels, { seconds, code, rejected: true });
    }
  }

  #observe(
    { webhook, type, operation }: WebhookCallLabels,
    { seconds, code, rejected }: { readonly seconds: number; readonly code: number; readonly rejected: boolean },
  ): void {
    const labels = { name: webhook.name, type, operation, rejected: String(rejected) };
    this.#metrics
      .histogram({
        name: 'apiserver_admission_webhook_admission_duration_seconds',
        help: 'Seconds that calls of admission webhooks took.',
        labels: ['name', 'type', 'operation', 'rejected'],
        buckets: BUCKETS,
      })
      .with(labels)
      .observe(seconds);
    this.#metrics
      .counter({
        name: 'apiserver_admission_webhook_request_total',
        help: 'Calls of admission webhooks, by the code of the answer.',
        labels: ['name', 'type', 'operation', 'code', 'rejected'],
      })
      .with({ ...labels, code: String(code) })
      .inc();
  }

  #reject({ webhook: { name }, type, operation }: WebhookCallLabels, errorType: string, code: number): void {
    this.#metrics
      .counter({
        name: 'apiserver_admission_webhook_rejection_count',
        help: 'Requests that admission webhooks rejected, by what was wrong.',
        labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
      })
      .with({ name, type, operation, error_type: errorType, rejection_code: String(code) })
      .inc();
  }

  #failOpen(name: string, type: string): void {
    this.#metrics
      .counter({
        name: 'apiserver_admission_webhook_fail_open_count',
        help: 'Calls of admission webhooks that failed and were ignored, by their failure policy.',
        labels: ['name', 'type'],
      })
      .with({ name, type })
      .inc();
  }
}
