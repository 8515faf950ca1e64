import { createHash } from 'node:crypto';
import type { Clock, MetricsRegistry } from '#base';

export interface ReloadMetricsDeps {
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  /** The identity of this server among those that share its store. */
  readonly apiServerId?: string | undefined;
}

/** Metrics of a reloaded configuration file, with upstream's names. As upstream, hashes are `sha256:` and hex. */
export class ReloadMetrics {
  readonly #deps: ReloadMetricsDeps;
  readonly #server: string;
  readonly #subject: string;
  /** The hash of the configuration in use. */
  #inUse: string | undefined;

  /** `text`: the configuration that is in use first. */
  constructor(subject: string, text: string, deps: ReloadMetricsDeps) {
    this.#subject = subject;
    this.#deps = deps;
    this.#server = deps.apiServerId ? hashOf(deps.apiServerId) : '';
    this.#use(text);
  }

  succeeded(text: string): void {
    this.#count('success');
    this.#use(text);
  }

  failed(): void {
    this.#count('failure');
  }

  #count(status: 'success' | 'failure'): void {
    const { metrics, clock } = this.#deps;
    const name = `apiserver_${this.#subject}_config_controller_automatic_reload`;
    const labels = ['status', 'apiserver_id_hash'] as const;
    const series = { status, apiserver_id_hash: this.#server };
    metrics
      .counter({ name: `${name}s_total`, help: `Reloads of the ${this.#subject} configuration, by how they went.`, labels })
      .with(series)
      .inc();
    const help = `When the ${this.#subject} configuration was last reloaded, by how it went.`;
    metrics
      .gauge({ name: `${name}_last_timestamp_seconds`, help, labels })
      .with(series)
      .set(clock.now() / 1000);
  }

  #use(text: string): void {
    const info = this.#deps.metrics.gauge({
      name: `apiserver_${this.#subject}_config_controller_last_config_info`,
      help: `The hash of the ${this.#subject} configuration in use.`,
      labels: ['apiserver_id_hash', 'hash'],
    });
    if (this.#inUse !== undefined) info.remove({ apiserver_id_hash: this.#server, hash: this.#inUse });
    this.#inUse = hashOf(text);
    info.with({ apiserver_id_hash: this.#server, hash: this.#inUse }).set(1);
  }
}

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
