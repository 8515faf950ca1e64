import type { core } from '#api';

/** A request to the kubelet of one node, as its HTTP server would get it. */
export interface KubeletRequest {
  readonly node: core.Node;
  readonly method: string;
  /** `/containerLogs/NAMESPACE/POD/CONTAINER` and the like. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Ends the request, also while its answer is being read. */
  readonly signal?: AbortSignal;
  /** The caller does not mind who the kubelet is. */
  readonly skipVerification?: boolean;
}

export interface KubeletResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The way from the API server to kubelets. */
export interface KubeletConnector {
  /** Resolves when the answer begins; rejects when the kubelet cannot be reached. */
  request(request: KubeletRequest): Promise<KubeletResponse>;
}

/** Answers requests to one kubelet that runs in this process. */
export type KubeletHandler = (request: KubeletRequest) => Promise<KubeletResponse> | KubeletResponse;

/** Kubelets of this process are called directly, all others through another connector. */
export class LocalKubelets implements KubeletConnector {
  readonly #handlers = new Map<string, KubeletHandler>();
  readonly #others: KubeletConnector;

  constructor(others: KubeletConnector) {
    this.#others = others;
  }

  /** Returns the way to take it back, for when the kubelet stops. */
  add(nodeName: string, handler: KubeletHandler): Disposable {
    this.#handlers.set(nodeName, handler);
    return {
      [Symbol.dispose]: () => {
        if (this.#handlers.get(nodeName) === handler) this.#handlers.delete(nodeName);
      },
    };
  }

  async request(request: KubeletRequest): Promise<KubeletResponse> {
    const handler = this.#handlers.get(request.node.metadata.name ?? '');
    return handler === undefined ? this.#others.request(request) : handler(request);
  }
}
