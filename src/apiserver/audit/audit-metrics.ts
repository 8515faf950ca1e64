import type { Counter, Family, Logger, MetricsRegistry } from '#base';
import type { AuditEvent, Level } from './audit-event.ts';
import { legacyText } from './legacy-text.ts';

/** Upstream's metric names. Unrecorded events are also logged. */
export class AuditMetrics {
  readonly #events: Counter;
  readonly #rejected: Counter;
  readonly #errors: Family<Counter, 'plugin'>;
  readonly #levels = new Map<Level, Counter>();
  readonly #byLevel: Family<Counter, 'level'>;
  readonly #logger: Logger;

  constructor(metrics: MetricsRegistry, logger: Logger) {
    this.#logger = logger;
    this.#events = metrics
      .counter({ name: 'apiserver_audit_event_total', help: 'Audit events that were sent to the audit backend.' })
      .with({});
    this.#rejected = metrics
      .counter({ name: 'apiserver_audit_requests_rejected_total', help: 'Requests rejected since the audit backend failed.' })
      .with({});
    this.#errors = metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that could not be recorded, by the part that failed.',
      labels: ['plugin'],
    });
    this.#byLevel = metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests, by the level at which they are audited.',
      labels: ['level'],
    });
  }

  countEvent(): void {
    this.#events.inc();
  }

  countLevel(level: Level): void {
    let counter = this.#levels.get(level);
    if (counter === undefined) {
      counter = this.#byLevel.with({ level });
      this.#levels.set(level, counter);
    }
    counter.inc();
  }

  countRejection(): void {
    this.#rejected.inc();
  }

  fail(plugin: string, error: unknown, events: readonly AuditEvent[]): void {
    this.#errors.with({ plugin }).inc(events.length);
    const impacted = events.slice(0, MAX_LOGGED).map(legacyText);
    this.#logger.error('audit events could not be recorded', { plugin, error, count: events.length, impacted });
  }
}

/** The limit of logged events per failure. */
const MAX_LOGGED = 10;
