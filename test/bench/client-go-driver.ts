import { realClock } from '#base';
import type { Answer } from './api-driver.ts';
import { Http2Client, type Http2Request, type ResponseSink } from './http2-client.ts';
import { TOKEN } from './server-process.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

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
  readonly #clients: readonly Http2Client[];
  #next = 0;

  private constructor(clients: readonly Http2Client[]) {
    this.#clients = clients;
  }

  static async connect(port: number, connections: number): Promise<ClientGoDriver> {
    return new ClientGoDriver(await Promise.all(Array.from({ length: connections }, () => Http2Client.connect(port))));
  }

  /** Rejects when the answer is not a success. */
  async send(method: string, path: string, { body, accept = PROTOBUF, gzip = false }: RequestOptions = {}): Promise<Answer> {
    const fields = { accept, ...(body && { 'content-type': body.contentType }), ...(gzip && { 'accept-encoding': 'gzip' }) };
    const answer = await this.#answer({ method, path, fields, body: body?.bytes });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new Error(
      `${method} ${path} was answered with ${answer.status}: ${Buffer.concat(answer.chunks).toString('latin1').slice(0, 300)}`,
    );
  }

  #answer(request: Http2Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      this.#request(request, {
        status: (code) => {
          status = code;
        },
        data: (chunk, credit) => {
          chunks.push(chunk);
          credit();
        },
        end: () => resolve({ status, chunks }),
        failed: reject,
      });
    });
  }

  /** Resolves with the number of objects at the end of the initial state. Continues to watch until disposed of. */
  informer(path: string, pauseMs: number): { readonly synced: Promise<number> } & Disposable {
    let cancel = () => {};
    const synced = new Promise<number>((resolve, reject) => {
      const frames = new FrameCounter(resolve);
      const ended = () => reject(new Error(`the watch ended after ${frames.count} objects`));
      // A slow one pauses after each chunk.
      let rested = Promise.resolve();
      const data = (chunk: Buffer, credit: () => void) => {
        if (pauseMs === 0) {
          frames.push(chunk);
          credit();
        } else
          rested = rested.then(async () => {
            frames.push(chunk);
            credit();
            await realClock.sleep(pauseMs);
          });
      };
      cancel = this.#request({ method: 'GET', path, fields: { accept: PROTOBUF } }, { status: () => {}, data, end: ended, failed: reject });
    });
    return { synced, [Symbol.dispose]: () => cancel() };
  }

  #request(request: Http2Request, sink: ResponseSink): () => void {
    const client = this.#clients[this.#next++ % this.#clients.length]!;
    const fields = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'bench/v1.36 (linux/amd64)', ...request.fields };
    return client.request({ ...request, fields }, sink);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy();
  }
}

const LENGTH_BYTES = 4;
/** The position of the event type in a frame, and the length of the frame that ends the initial state. */
const TYPE_AT = LENGTH_BYTES + 2;
const BOOKMARK = Buffer.from('BOOKMARK');

/** Counts frames without decoding them: decoding would add to the driver's CPU time. */
class FrameCounter {
  count = 0;
  /** The remaining bytes of the current frame. */
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
