import type { EventLoopWatch } from '#base';
import { StatusError } from '#machinery';
import type { ApiRequest, AuditContext, ClientCertificate, FlowIdentity, RequestBody } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';
import { queryFlag } from '../request/query-values.ts';
import { parseRequestInfo, type RequestInfo, selectedName } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';
import type { BodyBudget, BodyLease } from './body-budget.ts';
import type { Exchange } from './exchange.ts';

/** Shared by all requests without a query; it is never modified. */
const NO_QUERY = new URLSearchParams();

export interface NetworkRequestDeps {
  readonly eventLoop: EventLoopWatch;
  readonly bodies: BodyBudget;
  /** Responds with this error immediately. */
  cancel(error: StatusError): void;
}

/** A request from the network. */
export class NetworkRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly body: RequestBody;
  readonly warnings: string[] = [];
  readonly isLocal = false;
  user?: UserInfo;
  audit?: AuditContext;
  flow?: FlowIdentity;
  responseHeaders?: Readonly<Record<string, string>>;
  #abort: AbortController | undefined;
  #callbacks: ((code: number) => void)[] = [];
  #lease: BodyLease | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly deps: NetworkRequestDeps,
  ) {
    const { method, url } = exchange;
    const mark = url.indexOf('?');
    this.method = method;
    this.path = decodePath(mark < 0 ? url : url.slice(0, mark));
    this.query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    this.info = parseRequestInfo({
      method,
      path: this.path,
      watch: mark >= 0 && (queryFlag(this.query, 'watch') ?? false),
      selectedName: mark < 0 ? undefined : selectedName(this.query.get('fieldSelector')),
    });
    this.body = {
      type: 'bytes',
      read: (limit) => this.#read(limit),
      stream: () => exchange.bodyStream(),
      contentType: exchange.header('content-type') ?? '',
    };
  }

  get url(): string {
    return this.exchange.url;
  }

  onFinished(callback: (code: number) => void): void {
    this.#callbacks.push(callback);
  }

  /** The response was sent or the client disconnected. Every callback runs, even if another one throws. */
  finish(code: number, onError: (error: unknown) => void): void {
    this.#lease?.release();
    for (const callback of this.#callbacks) {
      try {
        callback(code);
      } catch (error) {
        onError(error);
      }
    }
  }

  leaveConnection(): void {
    this.exchange.leaveConnection();
  }

  cancel(error: StatusError): void {
    this.deps.cancel(error);
  }

  #read(limit: number): Promise<Buffer> {
    this.#lease ??= this.deps.bodies.lease();
    const { take } = this.#lease;
    const count = (bytes: number) => {
      take(bytes);
      // The handler continues with the last chunk: its work is accounted to this request.
      this.deps.eventLoop.enter(this);
    };
    return this.exchange.readBody({ limit, count });
  }

  header(name: string): string | undefined {
    return this.exchange.header(name);
  }

  headerLines(prefix: string): readonly HeaderLine[] {
    return this.exchange.headerLines(prefix);
  }

  get remoteAddress(): string {
    return this.exchange.remoteAddress;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.exchange.clientCertificate;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const controller = new AbortController();
      this.#abort = controller;
      this.exchange.onAbandoned(() => controller.abort());
    }
    return this.#abort.signal;
  }
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw StatusError.badRequest('invalid URL escape');
  }
}
