import type { Dialer } from '../egress/dialer.ts';
import { GrpcClient } from '../grpc/grpc-client.ts';
import type { MessageInput } from '../grpc/message-table.ts';
import type { Logger } from '../logging/logger.ts';
import type { Clock, TimerHandle } from '../time/clock.ts';
import { EXPORT_TRACES, type SpanMessage } from './otlp-messages.ts';
import { type Attributes, attributeList } from './span.ts';

export interface ExporterOptions {
  /** `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  /** Resource attributes, such as `service.name`. */
  readonly resource: Attributes;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dial?: Dialer | undefined;
}

/** OpenTelemetry's defaults. Spans beyond the queue are dropped. */
const LIMITS = { queue: 2048, batch: 512, delayMs: 5000, timeoutMs: 30_000, closeMs: 5000 } as const;
const SCOPE = { name: 'sampan' };

type SpanInput = MessageInput<typeof SpanMessage>;

/** Sends spans to a collector in batches. Failed batches are dropped, as upstream. */
export class SpanExporter implements AsyncDisposable {
  readonly #options: ExporterOptions;
  readonly #collector: GrpcClient;
  #queue: SpanInput[] = [];
  #timer: TimerHandle | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { endpoint, clock, dial } = options;
    this.#collector = new GrpcClient({ endpoint, clock, dial });
  }

  add(span: SpanInput): void {
    if (this.#queue.length >= LIMITS.queue) return;
    this.#queue.push(span);
    if (this.#queue.length >= LIMITS.batch) this.#send();
    else this.#timer ??= this.#options.clock.setTimer(LIMITS.delayMs, () => this.#send());
  }

  /** Flushes the queue, then closes. A collector that does not answer cannot hold up the stop for long. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    const limit = this.#options.clock.setTimer(LIMITS.closeMs, () => {
      this.#queue = [];
      this.#collector.close();
    });
    while (this.#sending !== undefined || this.#queue.length > 0) {
      this.#send();
      await this.#sending;
    }
    limit.cancel();
    this.#collector.close();
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#queue.length === 0) return;
    this.#sending ??= this.#export(this.#queue.splice(0, LIMITS.batch)).finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0) this.#timer ??= this.#options.clock.setTimer(0, () => this.#send());
    });
  }

  async #export(spans: readonly SpanInput[]): Promise<void> {
    const resource = { attributes: attributeList(Object.entries(this.#options.resource)) };
    const request = { resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans }] }] };
    try {
      await this.#collector.unary(EXPORT_TRACES, request, { timeoutMs: LIMITS.timeoutMs });
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.logger.warn('traces cannot be exported; they are lost until that works again', { error });
      this.#isFailing = true;
    }
  }
}
