import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { realClock } from '#base';
import type { Answer } from './api-driver.ts';
import { TOKEN } from './server-process.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** What Go's client lets come before it has read: a stream, and a connection. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = 1 << 30;

export interface Body {
  readonly bytes: Buffer;
  readonly contentType: string;
}

export interface RequestOptions {
  readonly body?: Body;
  readonly accept?: string;
  readonly gzip?: boolean;
}

/** Sends requests as client-go does: HTTP/2 over few connections that all requests share, protobuf both ways. */
export class ClientGoDriver implements AsyncDisposable {
  readonly #sessions: readonly ClientHttp2Session[];
  #next = 0;

  private constructor(sessions: readonly ClientHttp2Session[]) {
    this.#sessions = sessions;
  }

  static async connect(port: number, connections: number): Promise<ClientGoDriver> {
    return new ClientGoDriver(await Promise.all(Array.from({ length: connections }, () => connect(port))));
  }

  /** Rejects when the answer is not a success. */
  async send(method: string, path: string, { body, accept = PROTOBUF, gzip = false }: RequestOptions = {}): Promise<Answer> {
    const headers = { ...(body && { 'content-type': body.contentType }), ...(gzip && { 'accept-encoding': 'gzip' }) };
    const stream = this.#request({ ':method': method, ':path': path, accept, ...headers }, body === undefined);
    const answer = await answerOf(stream, body?.bytes);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new Error(
      `${method} ${path} was answered with ${answer.status}: ${Buffer.concat(answer.chunks).toString('latin1').slice(0, 300)}`,
    );
  }

  /** Resolves with the number of objects when the state is there in full. Goes on watching until disposed of. */
  informer(path: string, pauseMs: number): { readonly synced: Promise<number> } & Disposable {
    const stream = this.#request({ ':method': 'GET', ':path': path, accept: PROTOBUF });
    const synced = new Promise<number>((resolve, reject) => {
      const frames = new FrameCounter(resolve);
      stream.on('data', (chunk: Buffer) => {
        frames.push(chunk);
        if (pauseMs === 0) return;
        stream.pause();
        realClock.setTimer(pauseMs, () => stream.resume());
      });
      stream.once('error', reject);
      stream.once('close', () => reject(new Error(`the watch ended after ${frames.count} objects`)));
    });
    return { synced, [Symbol.dispose]: () => stream.close() };
  }

  #request(headers: http2.OutgoingHttpHeaders, endStream = true): ClientHttp2Stream {
    const session = this.#sessions[this.#next++ % this.#sessions.length]!;
    const stream = session.request(
      { authorization: `Bearer ${TOKEN}`, 'user-agent': 'bench/v1.36 (linux/amd64)', ...headers },
      { endStream },
    );
    stream.on('error', () => {});
    return stream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
  }
}

function connect(port: number): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      maxSessionMemory: 1000,
      settings: { initialWindowSize: STREAM_WINDOW, enablePush: false },
    });
    session.once('error', reject);
    session.once('connect', () => {
      session.setLocalWindowSize(CONNECTION_WINDOW);
      resolve(session);
    });
  });
}

function answerOf(stream: ClientHttp2Stream, body: Buffer | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    stream.once('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('error', reject);
    stream.once('end', () => resolve({ status, chunks }));
    if (body !== undefined) stream.end(body);
  });
}

const LENGTH_BYTES = 4;
/** Where the type of an event stands in its frame, and how long that of the end of the state is. */
const TYPE_AT = LENGTH_BYTES + 2;
const BOOKMARK = Buffer.from('BOOKMARK');

/** Counts the frames of a stream without decoding them: that would be work of the driver. */
class FrameCounter {
  count = 0;
  /** What is left of the frame that is under way. */
  #left = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(private readonly ended: (count: number) => void) {}

  push(chunk: Buffer): void {
    let bytes = this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk;
    this.#head = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#left > 0) {
        const length = Math.min(this.#left, bytes.length);
        this.#left -= length;
        bytes = bytes.subarray(length);
        continue;
      }
      if (bytes.length < TYPE_AT + BOOKMARK.length) {
        this.#head = bytes;
        return;
      }
      this.#left = LENGTH_BYTES + bytes.readUInt32BE(0);
      if (bytes.subarray(TYPE_AT, TYPE_AT + BOOKMARK.length).equals(BOOKMARK)) this.ended(this.count);
      else this.count++;
    }
  }
}
