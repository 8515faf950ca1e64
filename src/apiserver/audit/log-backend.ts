import { pushAll } from '#base';
import type { AuditBackend } from './audit-backend.ts';
import type { AuditEvent } from './audit-event.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import { EventLines } from './event-line.ts';
import { legacyText } from './legacy-text.ts';
import type { LogFile } from './log-file.ts';

export const LOG_FORMATS = ['legacy', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogBackendConfig {
  readonly format: LogFormat;
  /** Whether events of one event loop turn are written together, which is cheaper. */
  readonly writesTogether: boolean;
}

/** Writes a line for each event. */
export class LogBackend implements AuditBackend {
  readonly #lines = new EventLines();
  #pending: AuditEvent[] = [];

  constructor(
    private readonly file: LogFile,
    private readonly config: LogBackendConfig,
    private readonly metrics: AuditMetrics,
  ) {}

  process(events: readonly AuditEvent[]): boolean {
    if (!this.config.writesTogether) return this.#write(events);
    if (this.#pending.length === 0) setImmediate(() => this.#flush());
    pushAll(this.#pending, events);
    return true;
  }

  async close(): Promise<void> {
    this.#flush();
    await this.file.close();
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const events = this.#pending;
    this.#pending = [];
    this.#write(events);
  }

  #write(events: readonly AuditEvent[]): boolean {
    try {
      let text = '';
      for (const event of events) text += `${this.config.format === 'json' ? this.#lines.encode(event) : legacyText(event)}\n`;
      this.file.write(text);
      return true;
    } catch (error) {
      this.metrics.fail('log', error, events);
      return false;
    }
  }
}
