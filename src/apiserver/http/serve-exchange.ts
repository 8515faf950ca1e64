import type { Clock, EventLoopWatch, Random } from '#base';
import type { StatusError } from '#machinery';
import type { ApiResponse, Handler, StatusResponse } from '../handlers/api-response.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Exchange } from './exchange.ts';
import type { FailureLog } from './failure-log.ts';
import { NetworkRequest } from './network-request.ts';
import type { PendingFrames } from './pending-frames.ts';
import type { ProtobufMessages } from './protobuf-messages.ts';
import type { RequestBatcher } from './request-batcher.ts';
import { type ResponseContext, respond, statusResponse } from './respond.ts';
import type { SharedStates } from './shared-states.ts';
import type { WatchFlushes } from './watch-flush.ts';

export interface ServerContext {
  readonly handle: Handler;
  readonly bodies: BodyBudget;
  readonly eventLoop: EventLoopWatch;
  readonly clock: Clock;
  readonly random: Random;
  readonly failures: FailureLog;
  readonly watchFlushes: WatchFlushes;
  readonly pendingFrames: PendingFrames;
  readonly sharedStates: SharedStates;
  readonly messages: ProtobufMessages;
  readonly turns: RequestBatcher;
}

/** Serves one exchange. Never rejects: every error is answered, logged and counted here. */
export async function serveExchange(exchange: Exchange, deps: ServerContext): Promise<void> {
  const served = new ServedExchange(exchange, deps);
  try {
    const request = served.begin();
    await deps.turns.next();
    await served.answer(await deps.handle(request));
  } catch (error) {
    await served.fail(error);
  } finally {
    served.end();
  }
}

/** A running exchange. */
class ServedExchange {
  #request: NetworkRequest | undefined;
  #isCanceled = false;
  #code = 200;

  constructor(
    private readonly exchange: Exchange,
    private readonly deps: ServerContext,
  ) {}

  begin(): NetworkRequest {
    this.#request = new NetworkRequest(this.exchange, { ...this.deps, cancel: (error) => this.#cancel(error) });
    return this.#request;
  }

  async answer(response: ApiResponse): Promise<void> {
    if (this.#isCanceled) return;
    if ('code' in response) this.#code = response.code;
    await respond(response, { ...this.#context(), headers: this.#headers() });
  }

  #context(): Omit<ResponseContext, 'headers'> {
    const { clock, watchFlushes, pendingFrames, sharedStates, messages } = this.deps;
    return { exchange: this.exchange, request: this.#request!, clock, watchFlushes, pendingFrames, sharedStates, messages };
  }

  async fail(error: unknown): Promise<void> {
    if (this.#isCanceled) return;
    const response = statusResponse(error);
    if (response.code >= 500) this.#log(error);
    this.#code = response.code;
    try {
      // An unparsable request has no negotiated format.
      if (this.#request === undefined) this.#respondPlainly(response);
      else await this.answer(response);
    } catch {
      this.#respondLast(response);
    }
  }

  end(): void {
    this.#request?.finish(this.#code, (error) => this.#log(error));
  }

  #cancel(error: StatusError): void {
    if (this.#isCanceled) return;
    this.#isCanceled = true;
    this.#code = error.code;
    this.#respondLast(statusResponse(error));
    this.exchange.abandon();
  }

  /** A response that has begun cannot be replaced: the connection is closed, so that the client notices. */
  #respondLast(response: StatusResponse): void {
    try {
      this.#respondPlainly(response);
    } catch {
      this.exchange.abandon();
    }
  }

  #respondPlainly({ code, object }: StatusResponse): void {
    this.exchange.respond(code, { ...this.#headers(), 'content-type': 'application/json' }, JSON.stringify(object));
  }

  #headers(): Record<string, string | string[]> {
    const id = this.#request?.audit?.id ?? this.deps.random.uuid();
    const flow = this.#request?.flow;
    const own = this.#request?.responseHeaders;
    if (flow === undefined) return { 'audit-id': id, 'cache-control': 'no-cache, private', ...own };
    return {
      ...own,
      'audit-id': id,
      'cache-control': 'no-cache, private',
      'x-kubernetes-pf-flowschema-uid': flow.uid,
      'x-kubernetes-pf-prioritylevel-uid': flow.level.uid,
    };
  }

  #log(error: unknown): void {
    const { method, url } = this.exchange;
    this.deps.failures.write(error, { method, path: url.split('?', 1)[0]! });
  }
}
