import type { GrpcConnection, StreamOptions } from './grpc-connection.ts';
import type { GrpcError } from './grpc-error.ts';
import type { GrpcStream, StreamHandler } from './message-stream.ts';

/** The number of buffered messages at which the server is paused. */
const MAX_WAITING = 16;

/** The responses to one request. */
export async function* receive(
  connection: Pick<GrpcConnection, 'stream'>,
  method: string,
  { request, ...options }: Omit<StreamOptions, 'handler'> & { readonly request: Uint8Array },
): AsyncGenerator<Buffer> {
  const inbox = new Inbox();
  const stream = connection.stream(method, { ...options, handler: inbox });
  inbox.stream = stream;
  stream.send(request);
  stream.finish();
  try {
    yield* inbox.messages();
  } finally {
    stream.cancel();
  }
}

/** Buffers messages until they are read, and pauses the server if there are too many. */
export class Inbox implements StreamHandler {
  stream: GrpcStream | undefined;
  readonly #waiting: Buffer[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake = () => {};

  message(bytes: Buffer): void {
    this.#waiting.push(bytes);
    if (this.#waiting.length >= MAX_WAITING) this.stream?.pause();
    this.#wake();
  }

  end(error: GrpcError | undefined): void {
    this.#end = error === undefined ? {} : { error };
    this.#wake();
  }

  aborted(reason: unknown): void {
    this.#waiting.length = 0;
    this.#end = { error: reason };
    this.#wake();
  }

  async *messages(): AsyncGenerator<Buffer> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) {
        yield message;
        if (this.#waiting.length === 0) this.stream?.resume();
      } else if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
