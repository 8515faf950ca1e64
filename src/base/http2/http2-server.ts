import type { Duplex } from 'node:stream';
import { hpackTables } from './hpack/hpack-decoder.ts';
import { encoderTables } from './hpack/hpack-encoder.ts';
import { HuffmanCode } from './hpack/huffman-code.ts';
import { BufferPool } from './output-buffer.ts';
import { type Http2ConnectionOptions, ServerConnection } from './server-connection.ts';

export interface Http2ServerOptions extends Pick<Http2ConnectionOptions, 'maxConcurrentStreams' | 'onStream'> {
  /** Names of response fields whose values recur: they are sent in full once a connection. */
  readonly recurringFields: readonly string[];
}

/** Serves HTTP/2 on sockets that are given to it. Each socket needs a listener of its errors. */
export class Http2Server {
  readonly #options: Http2ConnectionOptions;

  constructor({ maxConcurrentStreams, onStream, recurringFields }: Http2ServerOptions) {
    this.#options = {
      maxConcurrentStreams,
      onStream,
      pool: new BufferPool(),
      decoding: hpackTables(new HuffmanCode()),
      encoding: encoderTables(recurringFields),
    };
  }

  serve(socket: Duplex): ServerConnection {
    return new ServerConnection(socket, this.#options);
  }
}
