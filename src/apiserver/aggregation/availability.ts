import { apiregistration } from '#api';
import type { Clock, Counter, Family, Gauge, MetricsRegistry } from '#base';
import type { Client } from '#client';
import { formatTime } from '#machinery';
import type { ServiceEndpoints } from '../service-endpoints/service-endpoints.ts';
import type { Backend } from './backend.ts';
import { backingServiceProblem } from './backing-service.ts';
import { type APIService, availableCondition, type RemoteApi } from './remote-api.ts';

type Condition = apiregistration.APIServiceCondition;

export interface AvailabilityDeps {
  readonly endpoints: ServiceEndpoints;
  readonly client: Client;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
}

const CHECK_TIMEOUT_MS = 5000;
/** The response body is ignored. */
const MAX_CHECK_BYTES = 4 << 20;
/** Each attempt may reach another endpoint; one success suffices. */
const FURTHER_ATTEMPTS = 4;
/** A privileged user, so that the check does not fail on authorization. */
const CHECKER = { name: 'system:kube-aggregator', groups: ['system:masters'] };

interface CheckResult {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const PASSED: CheckResult = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/** Checks whether an aggregated API responds, and writes the Available condition in upstream's words. */
export class Availability {
  readonly #deps: AvailabilityDeps;
  readonly #unavailable: Family<Gauge, 'name'>;
  readonly #changes: Family<Counter, 'name' | 'reason'>;

  constructor(deps: AvailabilityDeps) {
    this.#deps = deps;
    this.#unavailable = deps.metrics.gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'APIServices that are not available, 1 each.',
      labels: ['name'],
    });
    this.#changes = deps.metrics.counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often an APIService became unavailable, and why.',
      labels: ['name', 'reason'],
    });
  }

  /** Returns whether the API is available. */
  async check(api: RemoteApi, backend: Backend, isInProcess: boolean): Promise<boolean> {
    const result = await this.#check(api, backend, isInProcess);
    const isAvailable = result.status === 'True';
    this.#unavailable.with({ name: api.name }).set(isAvailable ? 0 : 1);
    await this.#write(api, result);
    return isAvailable;
  }

  forget(name: string): void {
    this.#unavailable.remove({ name });
  }

  async #check(api: RemoteApi, backend: Backend, isInProcess: boolean): Promise<CheckResult> {
    if (!isInProcess) {
      const { namespace, name } = api.service;
      const [service, slices] = await Promise.all([
        this.#deps.endpoints.service(namespace, name),
        this.#deps.endpoints.slices(namespace, name),
      ]);
      const unreachable = backingServiceProblem(api.service, { service, slices });
      if (unreachable !== undefined) return { status: 'False', ...unreachable };
    }
    const problem = await unavailableReason(api, backend);
    return problem === undefined ? PASSED : { status: 'False', reason: 'FailedDiscoveryCheck', message: problem };
  }

  async #write({ registration, name }: RemoteApi, result: CheckResult): Promise<void> {
    const before = availableCondition(registration);
    const isSame = before?.status === result.status;
    if (isSame && before.reason === result.reason && before.message === result.message) return;
    const lastTransitionTime = (isSame && before.lastTransitionTime) || formatTime(this.#deps.clock.now());
    const condition: Condition = { type: 'Available', ...result, lastTransitionTime };
    await this.#deps.client.of(apiregistration.APIService).updateStatus(withCondition(registration, condition));
    if (result.status === 'False' && before?.status !== 'False') this.#changes.with({ name, reason: result.reason }).inc();
  }
}

function withCondition(registration: APIService, condition: Condition): APIService {
  const others = registration.status?.conditions?.filter(({ type }) => type !== condition.type) ?? [];
  return { ...registration, status: { conditions: [...others, condition] } };
}

async function unavailableReason(api: RemoteApi, backend: Backend): Promise<string | undefined> {
  const first = await attempt(api, backend);
  if (first === undefined) return undefined;
  const others = await Promise.all(Array.from({ length: FURTHER_ATTEMPTS }, () => attempt(api, backend)));
  return others.includes(undefined) ? undefined : others.at(-1);
}

/** The error; undefined on success. */
async function attempt({ group, version }: RemoteApi, backend: Backend): Promise<string | undefined> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  let address = path;
  try {
    address = await backend.address(path);
    const request = { path, user: CHECKER, accept: 'application/json', timeoutMs: CHECK_TIMEOUT_MS, maxBytes: MAX_CHECK_BYTES };
    const { code } = await backend.getJson(request);
    if (code >= 200 && code < 300) return undefined;
    return `failing or missing response from ${address}: bad status from ${address}: ${code}`;
  } catch (error) {
    return `failing or missing response from ${address}: ${(error as Error).message}`;
  }
}
