import type { Transport, TransportRequest, WatchSink } from '#client';

/** A transport that simulates a network partition: requests fail and watches break until it heals. */
export class PartitionGate implements Transport {
  readonly isLocal: boolean;
  readonly #watches = new Set<(error: unknown) => void>();
  #isCut = false;

  constructor(private readonly inner: Transport) {
    this.isLocal = inner.isLocal;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
    for (const fail of [...this.#watches]) fail(unreachable());
  }

  mend(): void {
    this.#isCut = false;
  }

  async request(request: TransportRequest): Promise<unknown> {
    this.#check();
    const answer = await this.inner.request(request);
    // Responses to requests in flight are lost too.
    this.#check();
    return answer;
  }

  async text(request: TransportRequest): Promise<string> {
    this.#check();
    return this.inner.text(request);
  }

  async *stream(request: TransportRequest): AsyncIterable<Uint8Array> {
    this.#check();
    for await (const chunk of this.inner.stream(request)) {
      this.#check();
      yield chunk;
    }
  }

  watch(request: TransportRequest, sink: WatchSink): Disposable {
    if (this.#isCut) {
      queueMicrotask(() => sink.error(unreachable()));
      return { [Symbol.dispose]() {} };
    }
    const watch = this.inner.watch(request, sink);
    const fail = (error: unknown) => {
      close();
      sink.error(error);
    };
    const close = () => {
      this.#watches.delete(fail);
      watch[Symbol.dispose]();
    };
    this.#watches.add(fail);
    return { [Symbol.dispose]: close };
  }

  /** The underlying transport is owned by its creator. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const fail of [...this.#watches]) fail(new DOMException('the transport was closed', 'AbortError'));
  }

  #check(): void {
    if (this.#isCut) throw unreachable();
  }
}

function unreachable(): Error {
  return new Error('the node is cut off from the API server');
}
