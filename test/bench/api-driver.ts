import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { realClock } from '#base';
import { TOKEN } from './server-process.ts';

export interface Answer {
  readonly status: number;
  /** Kept as chunks: joining megabytes would add to the driver's own CPU time. */
  readonly chunks: readonly Buffer[];
}

/** How long the requests of one phase took. */
export interface Timing {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

export interface Payload {
  readonly body: object;
  readonly contentType?: string;
}

/** Sends requests over TLS as a client written with Node's own HTTP would: connections that are kept, HTTP/1.1. */
export class ApiDriver implements Disposable {
  readonly #port: number;
  readonly #agent: https.Agent;
  readonly #watchAgent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new https.Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  }

  /** Rejects when the answer is not a success. */
  async send(method: string, path: string, payload?: Payload): Promise<Answer> {
    const answer = await this.#exchange(method, path, payload);
    if (answer.status < 200 || answer.status >= 300)
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${textOf(answer).slice(0, 300)}`);
    return answer;
  }

  async read<T>(path: string): Promise<T> {
    return JSON.parse(textOf(await this.send('GET', path))) as T;
  }

  #exchange(method: string, path: string, payload?: Payload): Promise<Answer> {
    const bytes = payload && Buffer.from(JSON.stringify(payload.body));
    const headers = bytes && { 'content-type': payload.contentType ?? 'application/json', 'content-length': bytes.length };
    return new Promise((done, failed) => {
      const request = this.#request({ agent: this.#agent, method, path, headers: { ...headers } });
      request.once('error', failed);
      request.once('response', (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', failed);
        response.once('end', () => done({ status: response.statusCode ?? 0, chunks }));
      });
      request.end(bytes);
    });
  }

  #request(options: https.RequestOptions): ClientRequest {
    const headers = { authorization: `Bearer ${TOKEN}`, accept: 'application/json', ...options.headers };
    return https.request({ host: '127.0.0.1', port: this.#port, ...options, headers });
  }

  /** Resolves when the response begins. Its data goes to `take` until the result is disposed of. */
  watch(path: string, take: (chunk: Buffer) => void): Promise<Disposable> {
    return new Promise((opened, failed) => {
      const request = this.#request({ agent: this.#watchAgent, path });
      // Ending the stream may emit an error too, which nothing waits for by then.
      request.on('error', failed);
      request.once('response', (response: IncomingMessage) => {
        if (response.statusCode !== 200) failed(new Error(`the watch ${path} was answered with ${response.statusCode}`));
        response.on('error', () => {});
        response.on('data', take);
        opened({ [Symbol.dispose]: () => void request.destroy() });
      });
      request.end();
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#watchAgent.destroy();
  }
}

export function textOf({ chunks }: Answer): string {
  return Buffer.concat(chunks).toString();
}

/** Calls `one` for 0, 1, … `count - 1`, as many at a time as there are workers, and measures each call. */
export async function timed(count: number, workers: number, call: (i: number) => Promise<unknown>): Promise<Timing> {
  const took: number[] = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      const since = realClock.monotonic();
      await call(next++);
      took.push(realClock.monotonic() - since);
    }
  };
  const since = realClock.monotonic();
  await Promise.all(Array.from({ length: workers }, work));
  const seconds = (realClock.monotonic() - since) / 1000;
  return { perSecond: count / seconds, medianMs: quantile(took, 0.5), p99Ms: quantile(took, 0.99) };
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
}
