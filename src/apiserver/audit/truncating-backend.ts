import { allMaybePromise, type MaybePromise, mapMaybePromise } from '#base';
import { encodeJson } from '#machinery';
import type { AuditBackend } from './audit-backend.ts';
import { type AuditEvent, isAtLeast } from './audit-event.ts';
import type { AuditMetrics } from './audit-metrics.ts';

export interface TruncateConfig {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

const TOO_LARGE = 'event is too large even after truncating';

/** Drops bodies of events that are too large, and splits batches. */
export class TruncatingBackend implements AuditBackend {
  constructor(
    private readonly delegate: AuditBackend,
    private readonly config: TruncateConfig,
    private readonly metrics: AuditMetrics,
  ) {}

  process(events: readonly AuditEvent[]): MaybePromise<boolean> {
    const results = this.#batches(events).map((batch) => this.delegate.process(batch));
    return mapMaybePromise(allMaybePromise(results), (all) => all.every(Boolean));
  }

  close(): Promise<void> {
    return this.delegate.close();
  }

  #batches(events: readonly AuditEvent[]): readonly (readonly AuditEvent[])[] {
    const { maxEventBytes, maxBatchBytes } = this.config;
    const batches: AuditEvent[][] = [];
    const dropped: AuditEvent[] = [];
    let room = 0;
    for (const event of events) {
      const fitting = fitted(event, maxEventBytes);
      if (fitting === undefined) {
        dropped.push(event);
        continue;
      }
      const size = sizeOf(fitting);
      if (batches.length === 0 || size > room) {
        batches.push([]);
        room = maxBatchBytes;
      }
      batches.at(-1)!.push(fitting);
      room -= size;
    }
    if (dropped.length > 0) this.metrics.fail('truncate', new Error(TOO_LARGE), dropped);
    return batches;
  }
}

/** Undefined when it is too large even without bodies. */
function fitted(event: AuditEvent, maxBytes: number): AuditEvent | undefined {
  if (sizeOf(event) <= maxBytes) return event;
  if (!isAtLeast(event.level, 'Request')) return undefined;
  const { requestObject, responseObject, ...rest } = event;
  const truncated = { ...rest, annotations: { ...event.annotations, 'audit.k8s.io/truncated': 'true' } };
  return sizeOf(truncated) <= maxBytes ? truncated : undefined;
}

function sizeOf(event: AuditEvent): number {
  return Buffer.byteLength(encodeJson(event)) + 1;
}
