import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { MessageReader, MessageWriter } from '#base';

/** What to do with a request: `answer` it, or fail in one of the ways that servers and networks do. */
export type Behaviour = 'answer' | 'break' | 'unavailable' | 'timeout' | 'no leader' | 'refuse' | 'no space' | 'denied';

const REVISION = 7;

const STATUS: Partial<Record<Behaviour, readonly [status: number, message: string]>> = {
  unavailable: [14, 'transport is closing'],
  'no leader': [14, 'etcdserver: no leader'],
  'no space': [8, 'etcdserver: mvcc: database space exceeded'],
  denied: [7, 'etcdserver: permission denied'],
};

/** A fake etcd for failures that a real server cannot be made to show on demand. */
export class FakeServer implements AsyncDisposable {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #behaviours = new Map<string, Behaviour[]>();
  readonly #requests = new Map<string, number>();
  readonly #version: string;

  private constructor(version: string) {
    this.#version = version;
    this.#server = createServer();
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session)).on('error', () => {});
    });
    this.#server.on('stream', (stream, headers) => this.#serve(stream, String(headers[':path']).replace('/etcdserverpb.', '')));
  }

  static start(options: { readonly version?: string } = {}): Promise<FakeServer> {
    const fake = new FakeServer(options.version ?? '3.5.21');
    return new Promise((resolve) => fake.#server.listen(0, '127.0.0.1', () => resolve(fake)));
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** For the next requests of this method; later ones succeed. */
  behave(method: string, behaviours: readonly Behaviour[]): void {
    this.#behaviours.set(method, [...behaviours]);
  }

  requests(method: string): number {
    return this.#requests.get(method) ?? 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(stream: ServerHttp2Stream, method: string): void {
    stream.on('error', () => {});
    this.#requests.set(method, this.requests(method) + 1);
    if (method === 'Watch/Watch') {
      this.#watch(stream);
      return;
    }
    const behaviour = this.#behaviours.get(method)?.shift() ?? 'answer';
    // The request is read first: the failure comes when the server may have acted.
    stream.resume().on('end', () => this.#finish(stream, method, behaviour));
    if (behaviour === 'refuse') stream.close(7 /* REFUSED_STREAM */);
  }

  #finish(stream: ServerHttp2Stream, method: string, behaviour: Behaviour): void {
    if (behaviour === 'refuse' || behaviour === 'timeout' || stream.destroyed) return;
    if (behaviour === 'break') stream.session?.destroy();
    else if (behaviour === 'answer') respond(stream, this.#answer(method));
    else {
      const [status, message] = STATUS[behaviour]!;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message },
        { endStream: true },
      );
    }
  }

  #answer(method: string): Buffer {
    const header = new MessageWriter().number(3, REVISION).finish();
    const message = new MessageWriter().message(1, header);
    if (method === 'KV/Txn') message.flag(2, true);
    if (method === 'Maintenance/Status') message.message(2, Buffer.from(this.#version));
    return message.finish();
  }

  /** Creates every watch, and answers requests for progress, other than the first few: etcd drops those of watches that catch up. */
  #watch(stream: ServerHttp2Stream): void {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.on('data', (chunk: Buffer) => {
      const reader = new MessageReader(chunk.subarray(5));
      while (reader.next()) {
        const isProgress = reader.field !== 1;
        if (isProgress && this.#behaviours.get('Watch/Progress')?.shift() === 'refuse') continue;
        const header = new MessageWriter().number(3, REVISION).finish();
        const answer = new MessageWriter().message(1, header).flag(3, !isProgress);
        stream.write(frame(answer.finish()));
      }
    });
  }
}

function respond(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame(message));
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
