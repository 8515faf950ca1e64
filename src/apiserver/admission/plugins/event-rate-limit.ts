import type { core } from '#api';
import { type Clock, Lru, TokenBucket } from '#base';
import { StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';

export const EVENT_LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

export interface EventLimit {
  readonly type: (typeof EVENT_LIMIT_TYPES)[number];
  readonly qps: number;
  readonly burst: number;
  /** How many namespaces, users or objects are remembered. 0: 4096. */
  readonly cacheSize: number;
}

const REMEMBERED = 4096;

/** Limits the rate of events: in total, per namespace, per user, or per source and object. */
export function eventRateLimit(limits: readonly EventLimit[], { clock }: { readonly clock: Clock }): AdmissionPlugin {
  const enforcers = limits.map((limit) => limitEnforcer(limit, clock));
  return {
    name: 'EventRateLimit',
    operations: ['CREATE', 'UPDATE'],
    // As upstream, not those of events.k8s.io.
    resources: ['events'],
    validate: (attributes) => {
      if (attributes.dryRun) return;
      // Each limit counts the event, also when another one is reached.
      const reached = [...new Set(enforcers.flatMap((enforce) => enforce(attributes) ?? []))];
      if (reached.length === 0) return;
      const text = reached.length === 1 ? reached[0]! : `[${reached.join(', ')}]`;
      throw new StatusError({ code: 429, reason: 'TooManyRequests', message: `Too many requests: ${text}` });
    },
  };
}

/** Takes a token for the event; says so if there is none. */
function limitEnforcer({ type, qps, burst, cacheSize }: EventLimit, clock: Clock) {
  const buckets = new Lru<string, TokenBucket>({ capacity: cacheSize || REMEMBERED });
  return (attributes: AdmissionAttributes): string | undefined => {
    const key = limitKey(type, attributes);
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(clock, { perSecond: qps, burst });
      buckets.set(key, bucket);
    }
    return bucket.tryTake() ? undefined : `limit reached on type ${type} for key ${key}`;
  };
}

function limitKey(type: EventLimit['type'], { namespace, user, object }: AdmissionAttributes): string {
  switch (type) {
    case 'Server':
      return '';
    case 'Namespace':
      return namespace;
    case 'User':
      return user.name;
    case 'SourceAndObject':
      return sourceAndObject(object as core.Event);
  }
}

function sourceAndObject({ source, involvedObject }: core.Event): string {
  const { component, host } = source ?? {};
  const { kind, namespace, name, uid, apiVersion } = involvedObject ?? {};
  return [component, host, kind, namespace, name, uid, apiVersion].map((part) => part ?? '').join('');
}
