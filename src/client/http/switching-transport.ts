import type { Transport } from '../transport.ts';

export interface SwitchingTransport extends Transport {
  /** Switches to `next`. Requests on the old transport are completed; watches are reopened by their users. */
  use(next: Transport): Promise<void>;
}

/** A transport that can be replaced, for example with a renewed client certificate. */
export function switchingTransport(first: Transport): SwitchingTransport {
  let current = first;
  return {
    get isLocal() {
      return current.isLocal;
    },
    request: (request) => current.request(request),
    text: (request) => current.text(request),
    stream: (request) => current.stream(request),
    watch: (request, sink) => current.watch(request, sink),
    async use(next) {
      const before = current;
      current = next;
      await before[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
  };
}
