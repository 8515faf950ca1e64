import type { Duplex, Readable } from 'node:stream';
import type { core } from '#api';
import { type Dialer, duplexPair, realClock } from '#base';
import { PORT_FORWARD_PROTOCOL, PortForwardClient, PROTOCOL_HEADER, SPDY, type Upgrade } from '#client';

/** A request to a kubelet's API. */
export interface KubeletRequest {
  readonly node: core.Node;
  readonly method: string;
  /** Such as `/containerLogs/NAMESPACE/POD/CONTAINER`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
  /** Cancels the request, also while the response is read. */
  readonly signal?: AbortSignal;
  /** Skips verification of the kubelet's certificate. */
  readonly skipVerification?: boolean;
}

export interface KubeletResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The API server's connection to kubelets. */
export interface KubeletConnector {
  /** Resolves with the response headers; rejects when the kubelet is unreachable. */
  request(request: KubeletRequest): Promise<KubeletResponse>;
  /** A request with an Upgrade header; the kubelet may respond without upgrading. */
  upgrade(request: KubeletRequest): Promise<KubeletResponse | Upgrade>;
  /** In-process kubelets support all protocols; upstream's kubelets may support SPDY only. */
  isLocal(node: core.Node): boolean;
  /** The address of a remote kubelet. */
  addressOf(node: core.Node): string;
  /** Connects to a port of a simulated pod, whose address is not on a network. Undefined for other pods. */
  dialPod?(pod: core.Pod, port: number): (() => Promise<Duplex>) | undefined;
  /** Connects to an address of the cluster's network by way of a proxy. Undefined: it is reached directly. */
  readonly dialCluster?: Dialer | undefined;
}

/** Handles requests to one in-process kubelet. */
export type KubeletHandler = (request: KubeletRequest) => Promise<KubeletResponse | Upgrade>;

interface LocalKubelet {
  readonly handler: KubeletHandler;
  /** Its pods have no real addresses. */
  readonly isSimulated: boolean;
}

/** Calls in-process kubelets directly, others through another connector. */
export class LocalKubelets implements KubeletConnector {
  readonly #handlers = new Map<string, LocalKubelet>();
  readonly #others: KubeletConnector;

  constructor(others: KubeletConnector) {
    this.#others = others;
  }

  /** Returns the undo function, for when the kubelet stops. */
  add(nodeName: string, handler: KubeletHandler, { isSimulated = false }: { readonly isSimulated?: boolean } = {}): Disposable {
    const kubelet = { handler, isSimulated };
    this.#handlers.set(nodeName, kubelet);
    return {
      [Symbol.dispose]: () => {
        if (this.#handlers.get(nodeName) === kubelet) this.#handlers.delete(nodeName);
      },
    };
  }

  dialPod({ metadata, spec }: core.Pod, port: number): (() => Promise<Duplex>) | undefined {
    const kubelet = this.#handlers.get(spec?.nodeName ?? '');
    if (!kubelet?.isSimulated) return undefined;
    return async () => {
      const response = await kubelet.handler({
        node: { metadata: { name: spec!.nodeName! } },
        method: 'POST',
        path: `/portForward/${metadata.namespace}/${metadata.name}`,
        query: new URLSearchParams(),
        headers: { connection: 'Upgrade', upgrade: SPDY, [PROTOCOL_HEADER]: PORT_FORWARD_PROTOCOL },
      });
      if (!('serve' in response)) throw new Error(`the kubelet answered ${response.code}`);
      const { near, far } = duplexPair();
      void response.serve(far);
      const client = new PortForwardClient(near, realClock);
      return client.open(port).once('close', () => client.close());
    };
  }

  async request(request: KubeletRequest): Promise<KubeletResponse> {
    const handler = this.#handlers.get(request.node.metadata.name ?? '')?.handler;
    if (handler === undefined) return this.#others.request(request);
    const response = await handler(request);
    if ('serve' in response) throw new Error('unexpected upgrade response of the kubelet');
    return response;
  }

  async upgrade(request: KubeletRequest): Promise<KubeletResponse | Upgrade> {
    const handler = this.#handlers.get(request.node.metadata.name ?? '')?.handler;
    return handler === undefined ? this.#others.upgrade(request) : handler(request);
  }

  get dialCluster(): Dialer | undefined {
    return this.#others.dialCluster;
  }

  addressOf(node: core.Node): string {
    return this.#others.addressOf(node);
  }

  isLocal(node: core.Node): boolean {
    return this.#handlers.has(node.metadata.name ?? '') || this.#others.isLocal(node);
  }
}
