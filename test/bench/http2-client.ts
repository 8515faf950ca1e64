import { once } from 'node:events';
import tls, { type TLSSocket } from 'node:tls';
import { type FrameHead, FrameParser, type PayloadRange } from '../../src/base/http2/frame-parser.ts';
import { HpackDecoder, type HpackTables, hpackTables } from '../../src/base/http2/hpack/hpack-decoder.ts';
import { encoderTables, HpackEncoder } from '../../src/base/http2/hpack/hpack-encoder.ts';
import { HuffmanCode } from '../../src/base/http2/hpack/huffman-code.ts';
import { BufferPool, OutputBuffer } from '../../src/base/http2/output-buffer.ts';
import {
  CLIENT_PREFACE,
  DEFAULT_WINDOW,
  ERROR,
  FLAG,
  FRAME,
  FRAME_HEAD_BYTES,
  MAX_FRAME_BYTES,
  SETTING,
} from '../../src/base/http2/protocol.ts';

export interface ResponseSink {
  status(code: number): void;
  /** `credit` must be called when the chunk has been consumed: it opens the window again. */
  data(chunk: Buffer, credit: () => void): void;
  end(): void;
  failed(error: Error): void;
}

export interface Http2Request {
  readonly method: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** The initial windows of Go's client: per stream, and per connection. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = 1 << 30;
/** As Go's client, which indexes nearly all fields. */
const RECURRING = [':authority', ':path', 'accept', 'accept-encoding', 'authorization', 'content-type', 'user-agent'];
const encoding = encoderTables(RECURRING);
const decoding: HpackTables = hpackTables(new HuffmanCode());

interface OpenStream {
  readonly sink: ResponseSink;
  uncredited: number;
}

/**
 * One connection of a load driver. Node's client takes more time for a request than the server under test: on two cores the figures would
 * be those of the driver. Not supported, because not needed: responses with several header blocks, trailers, server errors.
 */
export class Http2Client {
  readonly #socket: TLSSocket;
  readonly #streams = new Map<number, OpenStream>();
  readonly #encoder = new HpackEncoder(encoding);
  readonly #decoder = new HpackDecoder(decoding, 1 << 20);
  readonly #parser = new FrameParser((head, payload) => this.#frame(head, payload), false);
  readonly #out = new OutputBuffer(new BufferPool());
  readonly #waiting: { readonly id: number; readonly body: Buffer }[] = [];
  #nextId = 1;
  #sendWindow = DEFAULT_WINDOW;
  #uncredited = 0;
  #isScheduled = false;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#parser.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.#fail(new Error('the connection is closed')));
    this.#socket.write(CLIENT_PREFACE);
    this.#out.frameHead(FRAME.SETTINGS, 0, { streamId: 0, length: 12 });
    for (const [id, value] of [
      [SETTING.ENABLE_PUSH, 0],
      [SETTING.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
    ] as const)
      this.#setting(id, value);
    this.#control(FRAME.WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  static async connect(port: number): Promise<Http2Client> {
    // errors: rejects; later ones close the connection
    const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    socket.setNoDelay(true);
    return new Http2Client(socket);
  }

  /** Returns a function that cancels the request. */
  request({ method, path, fields, body }: Http2Request, sink: ResponseSink): () => void {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, { sink, uncredited: 0 });
    const out = this.#out;
    const at = out.length;
    out.frameHead(FRAME.HEADERS, FLAG.END_HEADERS | (body === undefined ? FLAG.END_STREAM : 0), { streamId: id, length: 0 });
    const all = { ':method': method, ':scheme': 'https', ':authority': '127.0.0.1', ':path': path, ...fields };
    for (const [name, value] of Object.entries(all)) this.#encoder.field(out, name, value);
    out.setFrameLength(at, out.length - at - FRAME_HEAD_BYTES);
    if (body !== undefined) {
      this.#waiting.push({ id, body });
      this.#sendBodies();
    }
    this.#schedule();
    return () => {
      if (this.#streams.delete(id)) this.#control(FRAME.RST_STREAM, id, ERROR.CANCEL);
    };
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Bodies are small: each is sent at once when the connection's window has room. */
  #sendBodies(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.body.length <= this.#sendWindow; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#sendWindow -= next.body.length;
      for (let from = 0; from < next.body.length; from += MAX_FRAME_BYTES) {
        const to = Math.min(next.body.length, from + MAX_FRAME_BYTES);
        this.#out.frameHead(FRAME.DATA, to === next.body.length ? FLAG.END_STREAM : 0, { streamId: next.id, length: to - from });
        this.#out.copy(next.body, from, to);
      }
    }
  }

  #frame(head: FrameHead, payload: PayloadRange): void {
    const { bytes, start, end } = payload;
    if (head.type === FRAME.DATA) this.#data(head, payload);
    else if (head.type === FRAME.HEADERS) this.#headers(head, payload);
    else if (head.type === FRAME.RST_STREAM) this.#reset(head.streamId, bytes.readUInt32BE(start));
    else if (head.type === FRAME.WINDOW_UPDATE && head.streamId === 0) {
      this.#sendWindow += bytes.readUInt32BE(start);
      this.#sendBodies();
      this.#schedule();
    } else if ((head.type === FRAME.SETTINGS || head.type === FRAME.PING) && (head.flags & FLAG.ACK) === 0) {
      const echo = head.type === FRAME.PING ? end - start : 0;
      this.#out.frameHead(head.type, FLAG.ACK, { streamId: 0, length: echo });
      this.#out.copy(bytes, start, start + echo);
      this.#schedule();
    }
  }

  #headers({ streamId, flags }: FrameHead, { bytes, start, end }: PayloadRange): void {
    const fields = this.#decoder.decode(bytes, start, end);
    const stream = this.#streams.get(streamId);
    stream?.sink.status(Number(fields?.find(({ name }) => name === ':status')?.value));
    if (flags & FLAG.END_STREAM) this.#end(streamId);
  }

  #data({ streamId, flags }: FrameHead, { bytes, start, end }: PayloadRange): void {
    const length = end - start;
    this.#uncredited += length;
    if (this.#uncredited > CONNECTION_WINDOW / 2) {
      this.#control(FRAME.WINDOW_UPDATE, 0, this.#uncredited);
      this.#uncredited = 0;
    }
    const stream = this.#streams.get(streamId);
    if (stream !== undefined && length > 0) stream.sink.data(bytes.subarray(start, end), () => this.#credit(streamId, length));
    if (flags & FLAG.END_STREAM) this.#end(streamId);
  }

  #credit(streamId: number, bytes: number): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.uncredited += bytes;
    if (stream.uncredited < STREAM_WINDOW / 4) return;
    this.#control(FRAME.WINDOW_UPDATE, streamId, stream.uncredited);
    stream.uncredited = 0;
  }

  #end(streamId: number): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    stream?.sink.end();
  }

  #reset(streamId: number, code: number): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    stream?.sink.failed(new Error(`the stream was reset with ${code}`));
  }

  #fail(error: Error): void {
    for (const { sink } of this.#streams.values()) sink.failed(error);
    this.#streams.clear();
  }

  #setting(id: number, value: number): void {
    this.#out.bytes.writeUInt16BE(id, this.#out.length);
    this.#out.length += 2;
    this.#out.uint32(value);
  }

  #control(type: number, streamId: number, value: number): void {
    this.#out.frameHead(type, 0, { streamId, length: 4 });
    this.#out.uint32(value);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const { length } = this.#out;
      if (length > 0 && !this.#socket.destroyed) this.#socket.write(this.#out.detach().subarray(0, length));
    });
  }
}
