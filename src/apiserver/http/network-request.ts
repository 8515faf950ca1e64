import { StatusError } from '#machinery';
import type { UserInfo } from '../authn/user.ts';
import type { ApiRequest, ClientCertificate, RequestBody } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';
import { queryFlag } from '../request/query-values.ts';
import { parseRequestInfo, type RequestInfo, selectedName } from '../request/request-info.ts';
import type { Exchange } from './exchange.ts';

/** Of all requests that have none: nobody writes to a query. */
const NO_QUERY = new URLSearchParams();

/** A request that came over the network. */
export class NetworkRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly body: RequestBody;
  readonly warnings: string[] = [];
  user?: UserInfo;
  #abort: AbortController | undefined;

  constructor(
    private readonly exchange: Exchange,
    readonly auditId: string,
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
    this.body = { type: 'bytes', read: (limit) => exchange.readBody(limit), contentType: exchange.header('content-type') ?? '' };
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
