import type { Clock, Random } from '#base';
import { parseDurationMs, StatusError } from '#machinery';
import type { FailureLog } from '../failure-log.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, Handler, StatusResponse } from '../request/api-response.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { RequestMetrics } from '../request-metrics.ts';
import type { Exchange } from './exchange.ts';
import { NetworkRequest } from './network-request.ts';
import type { Flight, RequestsInFlight } from './requests-in-flight.ts';
import { respond, statusResponse } from './respond.ts';
import type { Turns } from './turns.ts';
import type { WatchFlushes } from './watch-flush.ts';

export interface Serving {
  readonly handle: Handler;
  readonly requests: RequestMetrics;
  readonly inFlight: RequestsInFlight;
  /** How long a request may take that does not last by its nature. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly failures: FailureLog;
  readonly watchFlushes: WatchFlushes;
  readonly turns: Turns;
}

/** One exchange over the network, whatever happens in it. */
export async function serveExchange(exchange: Exchange, deps: Serving): Promise<void> {
  const auditId = exchange.header('audit-id') || deps.random.uuid();
  const headers: Record<string, string | string[]> = { 'audit-id': auditId, 'cache-control': 'no-cache, private' };
  const served = new Served(exchange, headers, deps);
  try {
    const request = new NetworkRequest(exchange, auditId);
    served.begin(request);
    await deps.turns.next();
    await served.answer(await deps.handle(request));
  } catch (error) {
    await served.fail(error);
  } finally {
    served.end();
  }
}

/** What is known of an exchange while it lasts. */
class Served {
  #request: ApiRequest | undefined;
  #flight: Flight | undefined;
  #isExpired = false;
  #isLongRunning = false;
  #code = 200;
  readonly #begunMs: number;

  constructor(
    private readonly exchange: Exchange,
    private readonly headers: Record<string, string | string[]>,
    private readonly deps: Serving,
  ) {
    this.#begunMs = deps.inFlight.now();
  }

  begin(request: ApiRequest): void {
    const { inFlight, requests } = this.deps;
    this.#request = request;
    if (isLongRunning(request.info)) {
      this.#isLongRunning = true;
      requests.beginLongRunning(request);
      return;
    }
    const deadlineMs = this.#begunMs + timeoutOf(request, this.deps.requestTimeoutMs);
    this.#flight = { isMutating: !READ_VERBS.has(request.info.verb), deadlineMs, expire: () => this.#expire() };
    inFlight.begin(this.#flight);
  }

  async answer(response: ApiResponse): Promise<void> {
    const { exchange, headers, deps } = this;
    if (this.#isExpired) return;
    if ('code' in response) this.#code = response.code;
    await respond(response, { exchange, request: this.#request!, clock: deps.clock, headers, watchFlushes: deps.watchFlushes });
  }

  async fail(error: unknown): Promise<void> {
    if (this.#isExpired) return;
    const response = statusResponse(error);
    const { method, url } = this.exchange;
    if (response.code >= 500) this.deps.failures.write(error, { method, path: url.split('?', 1)[0]! });
    try {
      this.#code = response.code;
      // A request that could not even be read has no wishes about the form of its answer.
      if (this.#request === undefined) this.#respondPlainly(response);
      else await this.answer(response);
    } catch {
      // The client is gone, or its answer had begun: nothing more can be told.
    }
  }

  end(): void {
    const { inFlight, requests } = this.deps;
    if (this.#flight !== undefined) inFlight.end(this.#flight);
    if (this.#request === undefined) return;
    const seconds = (inFlight.now() - this.#begunMs) / 1000;
    requests.count(this.#request, { code: this.#code, seconds, isLongRunning: this.#isLongRunning });
  }

  #expire(): void {
    this.#isExpired = true;
    this.#code = 504;
    this.deps.requests.countTermination(this.#request!, this.#code);
    try {
      this.#respondPlainly(statusResponse(StatusError.timeout('request did not complete within the allotted timeout', 0)));
    } catch {
      // Its answer had begun.
    }
    this.exchange.abandon();
  }

  #respondPlainly({ code, object }: StatusResponse): void {
    this.exchange.respond(code, { ...this.headers, 'content-type': 'application/json' }, JSON.stringify(object));
  }
}

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const LASTING_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

function isLongRunning({ verb, isResource, subresource }: RequestInfo): boolean {
  return verb === 'watch' || verb === 'proxy' || (isResource && LASTING_SUBRESOURCES.has(subresource));
}

/** Clients may ask for less time than they would get, never for more. */
function timeoutOf(request: ApiRequest, longestMs: number): number {
  const text = request.query.get('timeout');
  if (!text) return longestMs;
  try {
    const wanted = parseDurationMs(text);
    return wanted > 0 ? Math.min(wanted, longestMs) : longestMs;
  } catch (error) {
    throw StatusError.badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
}
