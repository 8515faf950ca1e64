import type { MessageInput } from '../grpc/message-table.ts';
import type { Clock } from '../time/clock.ts';
import type { SpanMessage } from './otlp-messages.ts';
import type { TraceContext } from './trace-context.ts';

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** OpenTelemetry span kinds. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;

const ERROR = 2;

export interface SpanStart {
  readonly name: string;
  readonly context: TraceContext;
  readonly parentSpanId?: string | undefined;
  /** Linked traces: untrusted parents. */
  readonly links?: readonly TraceContext[];
  readonly kind: number;
  readonly startMs: number;
}

/** A span of a trace. Exported when it ends. */
export class Span {
  readonly context: TraceContext;
  readonly #start: SpanStart;
  readonly #attributes = new Map<string, AttributeValue>();
  readonly #clock: Clock;
  readonly #onEnd: (span: MessageInput<typeof SpanMessage>) => void;
  #error: string | undefined;
  #isOver = false;

  constructor(start: SpanStart, clock: Clock, onEnd: (span: MessageInput<typeof SpanMessage>) => void) {
    this.#start = start;
    this.context = start.context;
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  set(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes)) this.#attributes.set(key, value);
    return this;
  }

  fail(message: string): this {
    this.#error = message;
    return this;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls after the first `end` are ignored. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { name, context, parentSpanId, links = [], kind, startMs } = this.#start;
    const bytes = (hex: string) => Buffer.from(hex, 'hex');
    this.#onEnd({
      ...{ name, kind, traceId: bytes(context.traceId), spanId: bytes(context.spanId) },
      ...(parentSpanId !== undefined && { parentSpanId: bytes(parentSpanId) }),
      links: links.map(({ traceId, spanId }) => ({ traceId: bytes(traceId), spanId: bytes(spanId) })),
      ...{ startTimeUnixNano: nanoseconds(startMs), endTimeUnixNano: nanoseconds(this.#clock.now()) },
      attributes: attributeList(this.#attributes),
      ...(this.#error !== undefined && { status: { code: ERROR, message: this.#error } }),
    });
  }
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}

export function attributeList(attributes: Iterable<readonly [string, AttributeValue]>) {
  return [...attributes].map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { text: value } : typeof value === 'number' ? { number: value } : { flag: value },
  }));
}
