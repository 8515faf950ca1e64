import { AsyncLocalStorage } from 'node:async_hooks';
import { isPromise } from '../async/maybe-promise.ts';
import type { Random } from '../random.ts';
import type { Clock } from '../time/clock.ts';
import { type Attributes, SPAN_KIND, Span } from './span.ts';
import type { SpanExporter } from './span-exporter.ts';
import type { TraceContext } from './trace-context.ts';

export interface TracerOptions {
  readonly exporter: Pick<SpanExporter, 'add'>;
  /** The sampling rate of new traces; others have decided already. */
  readonly samplingRatePerMillion: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface StartOptions {
  readonly parent?: TraceContext | undefined;
  readonly links?: readonly TraceContext[];
  readonly kind?: number;
  /** Default: now. */
  readonly startMs?: number;
}

export interface ChildOptions {
  readonly kind?: number;
  readonly attributes: () => Attributes;
}

const MILLION = 1_000_000n;

/** Creates spans; none for unsampled traces. */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #active = new AsyncLocalStorage<Span>();

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  start(name: string, { parent, links, kind = SPAN_KIND.internal, startMs }: StartOptions = {}): Span | undefined {
    if (parent !== undefined && !parent.isSampled) return undefined;
    const { random, clock, exporter } = this.#options;
    const traceId = parent?.traceId ?? Buffer.from(random.bytes(16)).toString('hex');
    if (parent === undefined && !this.#isSampled(traceId)) return undefined;
    const context = { traceId, spanId: Buffer.from(random.bytes(8)).toString('hex'), isSampled: true };
    const start = { name, context, kind, startMs: startMs ?? clock.now(), parentSpanId: parent?.spanId, ...(links && { links }) };
    return new Span(start, clock, (span) => exporter.add(span));
  }

  /** Runs the function within the span, which ends with it; spans created meanwhile are its children. */
  within<T>(span: Span | undefined, work: () => T): T {
    if (span === undefined) return work();
    const fail = (error: unknown): never => {
      span.fail((error as Error).message).end();
      throw error;
    };
    try {
      const result = this.#active.run(span, work);
      if (!isPromise(result)) {
        span.end();
        return result;
      }
      const done = (value: unknown) => {
        span.end();
        return value;
      };
      return result.then(done, fail) as T;
    } catch (error) {
      return fail(error);
    }
  }

  /** Runs the function within a new span, if it belongs to a sampled request that is still waiting for it. */
  child<T>(name: string, { kind, attributes }: ChildOptions, work: (span?: Span) => T): T {
    const parent = this.#active.getStore();
    // Background work of a request may continue for ever.
    const span = parent && !parent.isOver ? this.start(name, { parent: parent.context, ...(kind !== undefined && { kind }) }) : undefined;
    return this.within(span?.set(attributes()), () => work(span));
  }

  /** By the trace id, so that all components with the same rate agree. */
  #isSampled(traceId: string): boolean {
    const drawn = BigInt(`0x${traceId.slice(16)}`) >> 1n;
    return drawn < (BigInt(this.#options.samplingRatePerMillion) << 63n) / MILLION;
  }
}
