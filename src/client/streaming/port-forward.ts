import type { Duplex } from 'node:stream';
import { type Clock, SPDY_RESET, SpdyConnection, type SpdyStream } from '#base';
import { joinDuplexes } from './join-duplexes.ts';
import { LIMITS } from './limits.ts';
import { spdyKeepAlive } from './spdy-command.ts';

export const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';

/** Connects to a port of a pod. The error of a rejection is sent to the client. */
export type PortDialer = (port: number) => Promise<Duplex>;

interface StreamPair {
  error?: SpdyStream;
  data?: SpdyStream;
  readonly expiry: Disposable;
}

/** Serves port-forward over SPDY: for each connection the client opens a data stream and an error stream. */
export async function servePortForward(transport: Duplex, dial: PortDialer, clock: Clock): Promise<void> {
  const pairs = new Map<string, StreamPair>();
  const connection = new SpdyConnection(transport, {
    role: 'server',
    onStream: (stream) => {
      const problem = streamProblem(stream);
      if (problem !== undefined) return stream.reset(SPDY_RESET.protocolError);
      stream.reply();
      const id = requestIdOf(stream);
      const pair = pairs.get(id) ?? { expiry: expireAfter(clock, () => abandon(pairs, id)) };
      pairs.set(id, pair);
      if (stream.headers.get('streamtype') === 'error') pair.error = stream;
      else pair.data = stream;
      if (pair.error === undefined || pair.data === undefined) return;
      pair.expiry[Symbol.dispose]();
      pairs.delete(id);
      void forward(pair.data, pair.error, dial);
    },
  });
  const alive = spdyKeepAlive(connection, clock);
  await connection.closed;
  alive[Symbol.dispose]();
  for (const id of [...pairs.keys()]) abandon(pairs, id);
}

function expireAfter(clock: Clock, expire: () => void): Disposable {
  const timer = clock.setTimer(LIMITS.streamCreationMs, expire);
  return { [Symbol.dispose]: () => timer.cancel() };
}

function abandon(pairs: Map<string, StreamPair>, id: string): void {
  const pair = pairs.get(id);
  pairs.delete(id);
  pair?.expiry[Symbol.dispose]();
  pair?.error?.reset();
  pair?.data?.reset();
}

function streamProblem({ headers }: SpdyStream): string | undefined {
  const type = headers.get('streamtype') ?? '';
  if (type !== 'error' && type !== 'data') return `invalid stream type "${type}"`;
  return isPort(headers.get('port') ?? '') ? undefined : `"port" value "${headers.get('port') ?? ''}" must be 1 to 65535`;
}

export function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;
}

/** Old clients without request ids open the two streams consecutively. */
function requestIdOf({ id, headers }: SpdyStream): string {
  return headers.get('requestid') ?? String(headers.get('streamtype') === 'error' ? id : id - 2);
}

/** Never rejects: the client reads errors from its second stream. */
async function forward(data: SpdyStream, error: SpdyStream, dial: PortDialer): Promise<void> {
  error.resume();
  const port = Number(data.headers.get('port'));
  await joinPort(
    data,
    () => dial(port),
    (message) => void error.end(message),
  );
  error.end();
  data.end();
  data.resume();
}

/**
 * Connects a client's stream with a port until both have ended. A runtime may report a refused connection long after the dial.
 * Never rejects.
 */
export async function joinPort(local: Duplex, dial: () => Promise<Duplex>, report: (message: string) => void): Promise<void> {
  try {
    const remote = await dial();
    // Reported before the streams are joined: clients read the message before the end of the data.
    remote.on('error', (error) => report(error.message));
    await joinDuplexes(local, remote);
  } catch (error) {
    report((error as Error).message);
  }
}

/** The client side: forwards connections over one SPDY connection. */
export class PortForwardClient {
  readonly closed: Promise<void>;
  readonly #connection: SpdyConnection;
  #nextRequest = 0;

  constructor(transport: Duplex, clock: Clock) {
    this.#connection = new SpdyConnection(transport, { role: 'client' });
    const alive = spdyKeepAlive(this.#connection, clock);
    this.closed = this.#connection.closed;
    void this.closed.then(() => alive[Symbol.dispose]());
  }

  /** Connects to a port. The stream fails with the server's error. */
  open(port: number): Duplex {
    const ids: [string, string][] = [
      ['port', String(port)],
      ['requestid', String(this.#nextRequest++)],
    ];
    const error = this.#connection.openStream(new Map([['streamtype', 'error'], ...ids]));
    error.end();
    const data = this.#connection.openStream(new Map([['streamtype', 'data'], ...ids]));
    let message = '';
    error.on('data', (chunk: Buffer) => {
      if (message.length < LIMITS.statusBytes) message += chunk.toString();
    });
    error.once('end', () => {
      if (message !== '') data.destroy(new Error(message));
    });
    return data;
  }

  close(): void {
    this.#connection.close();
  }
}
