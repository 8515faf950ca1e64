import { type Clock, type Random, retry } from '#base';
import type { KubeconfigWebhook } from '../webhook-client/kubeconfig-webhook.ts';
import type { AuditBackend } from './audit-backend.ts';
import type { AuditEvent } from './audit-event.ts';
import type { AuditMetrics } from './audit-metrics.ts';

export interface WebhookBackendDeps {
  readonly webhook: KubeconfigWebhook;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AuditMetrics;
}

/** As upstream: exponential backoff with factor 1.5, five attempts. */
const ATTEMPTS = 5;
const FACTOR = 1.5;
const JITTER = 0.2;
const TIMEOUT_MS = 30_000;
/** The timeout for flushing when the server stops. */
const CLOSE_MS = 30_000;

/** Posts events as an EventList. */
export class WebhookBackend implements AuditBackend {
  readonly #deps: WebhookBackendDeps;
  readonly #initialBackoffMs: number;
  readonly #stop = new AbortController();
  readonly #inFlight = new Set<Promise<boolean>>();

  constructor(initialBackoffMs: number, deps: WebhookBackendDeps) {
    this.#initialBackoffMs = initialBackoffMs;
    this.#deps = deps;
  }

  process(events: readonly AuditEvent[]): Promise<boolean> {
    const sent = this.#send(events).finally(() => this.#inFlight.delete(sent));
    this.#inFlight.add(sent);
    return sent;
  }

  async close(): Promise<void> {
    const limit = this.#deps.clock.setTimer(CLOSE_MS, () => this.#stop.abort(new Error('the server is stopping')));
    await Promise.all(this.#inFlight);
    limit.cancel();
    await this.#deps.webhook[Symbol.asyncDispose]();
  }

  async #send(events: readonly AuditEvent[]): Promise<boolean> {
    const { webhook, clock, random, metrics } = this.#deps;
    const list = { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: events };
    const backoff = { initialMs: this.#initialBackoffMs, factor: FACTOR, jitter: JITTER };
    const { signal } = this.#stop;
    try {
      await retry({ clock, random, backoff, attempts: ATTEMPTS, signal }, () => webhook.post(list, { timeoutMs: TIMEOUT_MS, signal }));
      return true;
    } catch (error) {
      metrics.fail('webhook', error, events);
      return false;
    }
  }
}
