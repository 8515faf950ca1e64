import type { GrpcConnection } from './grpc-connection.ts';
import type { GrpcError } from './grpc-error.ts';

/** Messages that may wait for the consumer before the server has to. */
const MAX_WAITING = 16;

/** The messages of a stream that the server alone talks on. */
export async function* receive(connection: GrpcConnection, method: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = [];
  let end: { readonly error: GrpcError | undefined } | undefined;
  let wake = () => {};
  const stream = connection.stream(method, {
    handler: {
      message(bytes) {
        waiting.push(bytes);
        if (waiting.length >= MAX_WAITING) stream.pause();
        wake();
      },
      end(error) {
        end = { error };
        wake();
      },
    },
  });
  stream.send(Buffer.alloc(0));
  stream.finish();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const message = waiting.shift();
      if (message !== undefined) {
        yield message;
        if (waiting.length === 0) stream.resume();
      } else if (end !== undefined) {
        if (end.error !== undefined) throw end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stream.cancel();
  }
}
