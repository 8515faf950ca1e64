import type { Clock } from '#base';
import { StatusError } from '#machinery';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Backend, BackendRequest, JsonResponse } from './backend.ts';

/** An in-process backend: receives authorized requests with their users. */
export class InProcessBackend implements Backend {
  readonly #handler: Handler;
  readonly #clock: Clock;

  constructor(handler: Handler, clock: Clock) {
    this.#handler = handler;
    this.#clock = clock;
  }

  async forward(request: ApiRequest): Promise<ApiResponse> {
    return this.#handler(request);
  }

  async getJson({ path, user, accept }: BackendRequest): Promise<JsonResponse> {
    const transport = inProcessTransport(this.#handler, user, { clock: this.#clock });
    try {
      const body = await transport.request({ method: 'GET', path, accept });
      return { code: 200, contentType: contentTypeOf(body), etag: '', body };
    } catch (error) {
      return { code: StatusError.from(error).code, contentType: '', etag: '', body: undefined };
    }
  }

  async address(path: string): Promise<string> {
    return path;
  }

  close(): void {}
}

function contentTypeOf(body: unknown): string {
  const isAggregated = (body as { readonly kind?: unknown } | null)?.kind === 'APIGroupDiscoveryList';
  return isAggregated ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : 'application/json';
}
