import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { realClock, systemRandom } from '#base';
import { createPki } from '#cluster';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

// One API server with the embedded, durable store, over TLS, driven from this process. Beside it a server of Node's own that answers fixed
// bytes: what TLS, HTTP and the driver cost by themselves.
const CONCURRENCY = 32;
const REQUESTS = 3_000;

interface Server extends AsyncDisposable {
  readonly port: number;
}

function portFrom(child: ChildProcess, pattern: RegExp): Promise<number> {
  return new Promise((found, failed) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      const port = pattern.exec(chunk.toString())?.[1];
      if (port !== undefined) found(Number(port));
    });
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

async function sampan(): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'sampan-api-bench-'));
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, 'bench,bench,1,"system:masters"\n');
  const args = ['up', '--data-dir', join(directory, 'data'), '--port', '0', '--nodes', '0', '--no-merge', '--output', 'json'];
  const child = spawn(
    process.execPath,
    [resolve(import.meta.dirname, '../../dist/sampan.js'), ...args, '--apiserver-arg', `token-auth-file=${tokens}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const port = await portFrom(child, /"server": "https:\/\/[^:]+:(\d+)"/);
  return {
    port,
    async [Symbol.asyncDispose]() {
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function trivial(): Promise<Server> {
  const { serving } = await createPki({ names: { ipAddresses: ['127.0.0.1'] }, now: realClock.now(), random: systemRandom });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'trivial-server.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify({ key: serving.key, cert: serving.certificate }));
  const port = await portFrom(child, /port (\d+)/);
  return { port, [Symbol.asyncDispose]: () => stop(child) };
}

class Driver {
  readonly #agent = new https.Agent({ keepAlive: true, maxSockets: CONCURRENCY, rejectUnauthorized: false });

  constructor(private readonly port: number) {}

  send(method: string, path: string, body?: object): Promise<number> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      authorization: 'Bearer bench',
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
    };
    return new Promise((done, failed) => {
      const request = https.request({ agent: this.#agent, method, host: '127.0.0.1', port: this.port, path, headers }, (response) => {
        response.resume();
        response.once('end', () => done(response.statusCode ?? 0));
      });
      request.once('error', failed);
      request.end(payload);
    });
  }

  async all(count: number, one: (i: number) => Promise<number>): Promise<void> {
    let next = 0;
    const worker = async () => {
      while (next < count) {
        const i = next++;
        const code = await one(i);
        if (code >= 300) throw new Error(`request ${i} was answered with ${code}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  close(): void {
    this.#agent.destroy();
  }
}

type Work = (driver: Driver, round: number) => Promise<void>;

const PODS = '/api/v1/namespaces/default/pods';
const { metadata, spec } = typicalPod;
const podNamed = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { labels: metadata.labels, name },
  spec: { ...spec, nodeName: undefined, schedulerName: 'none' },
});
const create: Work = (driver, round) => driver.all(REQUESTS, (i) => driver.send('POST', PODS, podNamed(`p-${round}-${i}`)));
const read: Work = (driver) => driver.all(REQUESTS, (i) => driver.send('GET', `${PODS}/p-0-${(i * 7919) % REQUESTS}`));

/** Requests a second, on a server of its own. */
function contender(name: string, start: () => Promise<Server>, work: Work, prepare?: Work) {
  return {
    name,
    measure: async () => {
      await using server = await start();
      const driver = new Driver(server.port);
      try {
        await prepare?.(driver, 0);
        const since = realClock.monotonic();
        await work(driver, 1);
        return Math.round((REQUESTS * 1000) / (realClock.monotonic() - since));
      } finally {
        driver.close();
      }
    },
  };
}

const shape = { kind: 'macro', unit: 'requests/s', better: 'higher', rounds: 3 } as const;

export const benchmarks: Benchmark[] = [
  {
    ...shape,
    name: `api: create ${REQUESTS} pods`,
    baseline: contender('fixed bytes', trivial, create),
    subject: contender('sampan, durable', sampan, create),
  },
  {
    ...shape,
    name: `api: get ${REQUESTS} pods`,
    baseline: contender('fixed bytes', trivial, read),
    subject: contender('sampan', sampan, read, create),
  },
];
