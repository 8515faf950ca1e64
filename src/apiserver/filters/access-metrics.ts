import type { Clock, Counter, Histogram, MetricsRegistry } from '#base';
import type { Decision } from '../authz/authorizer.ts';

type Authentication = 'success' | 'failure' | 'error';
type Authorization = 'allowed' | 'denied' | 'no-opinion' | 'error';

/** How requests are authenticated and authorized, under upstream's names. */
export interface AccessMetrics {
  /** Returns a function to call with the result: the user, if there is one. */
  beginAuthentication(): (result: Authentication, userName?: string) => void;
  beginAuthorization(): (decision: Decision) => void;
}

/** Upstream's: from a millisecond to 16 s. */
const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export function accessMetrics(metrics: MetricsRegistry, clock: Clock): AccessMetrics {
  const users = metrics.counter({
    name: 'authenticated_user_requests',
    help: 'Authenticated requests, by well-known users or the form of the name.',
    labels: ['username'],
  });
  const authentications = new Attempts<Authentication>(metrics, {
    counter: { name: 'authentication_attempts', help: 'Requests that were authenticated or not, by the result.' },
    duration: { name: 'authentication_duration_seconds', help: 'Seconds that authentication took, by the result.' },
  });
  const authorizations = new Attempts<Authorization>(metrics, {
    counter: { name: 'authorization_attempts_total', help: 'Requests that were authorized or not, by the result.' },
    duration: { name: 'authorization_duration_seconds', help: 'Seconds that authorization took, by the result.' },
  });
  const secondsSince = (begunMs: number) => (clock.monotonic() - begunMs) / 1000;
  return {
    beginAuthentication: () => {
      const begunMs = clock.monotonic();
      return (result, userName) => {
        if (userName !== undefined) users.with({ username: userLabel(userName) }).inc();
        authentications.count(result, secondsSince(begunMs));
      };
    },
    beginAuthorization: () => {
      const begunMs = clock.monotonic();
      return (decision) => authorizations.count(resultOf(decision), secondsSince(begunMs));
    },
  };
}

interface MetricNames {
  readonly counter: { readonly name: string; readonly help: string };
  readonly duration: { readonly name: string; readonly help: string };
}

class Attempts<Result extends string> {
  readonly #series: (result: Result) => { readonly total: Counter; readonly duration: Histogram };
  // Finding a series by its labels costs more than counting.
  readonly #cached = new Map<Result, { readonly total: Counter; readonly duration: Histogram }>();

  constructor(metrics: MetricsRegistry, { counter, duration }: MetricNames) {
    const totals = metrics.counter({ ...counter, labels: ['result'] });
    const durations = metrics.histogram({ ...duration, labels: ['result'], buckets: BUCKETS });
    this.#series = (result) => ({ total: totals.with({ result }), duration: durations.with({ result }) });
  }

  count(result: Result, seconds: number): void {
    let series = this.#cached.get(result);
    if (series === undefined) {
      series = this.#series(result);
      this.#cached.set(result, series);
    }
    series.total.inc();
    series.duration.observe(seconds);
  }
}

function resultOf({ verdict, error }: Decision): Authorization {
  if (verdict === 'allow') return 'allowed';
  if (error !== undefined) return 'error';
  return verdict === 'deny' ? 'denied' : 'no-opinion';
}

const NAMED_USERS: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** Users cannot create series at will. */
function userLabel(name: string): string {
  if (NAMED_USERS.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}
