import { allMaybePromise, type MaybePromise, mapMaybePromise } from '#base';
import type { AuditEvent } from './audit-event.ts';

/** Records audit events. */
export interface AuditBackend {
  /** Resolves to whether the events were recorded or will certainly be. Failures are reported by the backend. */
  process(events: readonly AuditEvent[]): MaybePromise<boolean>;
  /** Resolves when all accepted events are recorded or dropped with an error. */
  close(): Promise<void>;
}

/** Sends events to all backends. */
export function unionBackend(backends: readonly AuditBackend[]): AuditBackend {
  if (backends.length === 1) return backends[0]!;
  return {
    process(events) {
      const results = backends.map((backend) => backend.process(events));
      return mapMaybePromise(allMaybePromise(results), (all) => all.every(Boolean));
    },
    async close() {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}

/** Requests do not depend on whether their events were recorded. */
export function ignoringErrors(backend: AuditBackend): AuditBackend {
  return {
    process(events) {
      const result = backend.process(events);
      return mapMaybePromise(result, () => true);
    },
    close: () => backend.close(),
  };
}
