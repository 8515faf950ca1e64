import { Readable, Writable } from 'node:stream';
import { ReceivedPieces, WEBSOCKET_CLOSE, WebSocketConnection } from '#base';

export const CHANNEL_PROTOCOL = 'channel.k8s.io';
export const BASE64_PROTOCOL = 'base64.channel.k8s.io';
/** Version 5: a client announces half-closed channels here. */
const CLOSE_CHANNEL = 255;
/** As much as arrives in one turn of the event loop: to pause at each chunk would cost more than to take it. */
const BUFFER_BYTES = 256 * 1024;

export interface ChannelOptions {
  readonly role: 'server' | 'client';
  /** The negotiated protocol; empty when there is none. */
  readonly protocol: string;
}

/** Receives the data of one channel. */
export interface ChannelSink {
  data(chunk: Buffer): void;
  end(): void;
}

/** Multiplexed byte streams over one WebSocket: each message starts with its channel number. */
export class WebSocketChannels {
  readonly socket: WebSocketConnection;
  readonly #isBase64: boolean;
  readonly #hasHalfClose: boolean;
  readonly #isClient: boolean;
  readonly #sinks = new Map<number, ChannelSink>();
  readonly #slow = new Set<Readable>();
  /** The channel of the current message. */
  #channel: number | undefined;
  #isText = false;
  #base64Rest = '';

  constructor(transport: ConstructorParameters<typeof WebSocketConnection>[0], { role, protocol }: ChannelOptions) {
    this.#isBase64 = protocol.endsWith(BASE64_PROTOCOL);
    this.#hasHalfClose = protocol === `v5.${CHANNEL_PROTOCOL}`;
    this.#isClient = role === 'client';
    this.socket = new WebSocketConnection(transport, {
      role,
      sink: {
        messageStart: (isText) => {
          this.#channel = undefined;
          this.#isText = isText;
          this.#base64Rest = '';
        },
        messageData: (chunk) => this.#receive(chunk),
        messageEnd: () => {},
      },
    });
  }

  listen(channel: number, sink: ChannelSink): void {
    this.#sinks.set(channel, sink);
  }

  /** The data of a channel. A slow reader blocks the whole connection. Ends with the connection. */
  readable(channel: number): Readable {
    const stream = new Readable({
      highWaterMark: BUFFER_BYTES,
      read: () => {
        pieces.read();
        this.#unblock(stream);
      },
      destroy: (error, done) => {
        this.#unblock(stream);
        done(error);
      },
    });
    const pieces: ReceivedPieces = new ReceivedPieces(stream);
    stream.on('error', () => {});
    this.listen(channel, {
      data: (chunk) => {
        if (stream.destroyed || pieces.add(chunk)) return;
        this.#slow.add(stream);
        this.socket.pause();
      },
      end: () => {
        if (!stream.destroyed) pieces.end();
      },
    });
    return stream;
  }

  writable(channel: number): Writable {
    const stream = new Writable({
      highWaterMark: BUFFER_BYTES,
      write: (chunk: Buffer, _encoding, done) => this.send(channel, chunk, done),
      final: (done) => {
        if (this.#hasHalfClose && this.#isClient && !this.socket.isClosed) this.socket.send([Buffer.from([CLOSE_CHANNEL, channel])]);
        done();
      },
    });
    stream.on('error', () => {});
    return stream;
  }

  send(channel: number, data: Buffer, sent?: (error?: Error) => void): void {
    const options = { isText: this.#isBase64, ...(sent && { sent }) };
    if (this.#isBase64) this.socket.send([Buffer.from(`${channel}${data.toString('base64')}`)], options);
    else this.socket.send([Buffer.from([channel]), data], options);
  }

  /** Ends every open channel: the peer disconnected. */
  endAll(): void {
    for (const sink of this.#sinks.values()) sink.end();
  }

  #unblock(stream: Readable): void {
    if (this.#slow.delete(stream) && this.#slow.size === 0) this.socket.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#isBase64 && this.#isText) this.#receiveBase64(chunk.toString('latin1'));
    else this.#receiveBytes(chunk);
  }

  #receiveBytes(chunk: Buffer): void {
    let data = chunk;
    if (this.#channel === undefined) {
      if (chunk.length === 0) return;
      this.#channel = chunk[0]!;
      data = chunk.subarray(1);
    }
    if (data.length === 0) return;
    if (this.#hasHalfClose && !this.#isClient && this.#channel === CLOSE_CHANNEL) this.#sinks.get(data[0]!)?.end();
    else this.#sinks.get(this.#channel)?.data(data);
  }

  #receiveBase64(text: string): void {
    let rest = text;
    if (this.#channel === undefined) {
      if (text === '') return;
      this.#channel = text.charCodeAt(0) - 48;
      rest = text.slice(1);
    }
    const encoded = this.#base64Rest + rest;
    const decodable = encoded.length - (encoded.length % 4);
    this.#base64Rest = encoded.slice(decodable);
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded.slice(0, decodable))) {
      this.socket.close(WEBSOCKET_CLOSE.protocolError, 'a message that is not base64');
      return;
    }
    const data = Buffer.from(encoded.slice(0, decodable), 'base64');
    if (data.length > 0) this.#sinks.get(this.#channel)?.data(data);
  }
}
