import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { MetricsRegistry, realClock } from '#base';
import { limitInFlight } from '../../src/apiserver/filters/in-flight-limit.ts';
import { priorityAndFairness } from '../../src/apiserver/filters/priority-and-fairness.ts';
import { flowController } from '../../src/apiserver/flow-controller.ts';
import { RequestBatcher } from '../../src/apiserver/http/request-batcher.ts';
import { ResourceTable } from '../../src/apiserver/registry/generic/resource-table.ts';
import type { ApiRequest } from '../../src/apiserver/request/api-request.ts';
import { parseRequestInfo } from '../../src/apiserver/request/request-info.ts';
import type { Benchmark } from './harness.ts';
import { type ServerProcess, startSampan, TOKEN, temporaryDirectory } from './server-process.ts';

const PATH = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const POLITE = 20;
const NOISY_CONNECTIONS = 200;
const REQUESTS = Number(process.env.FAIRNESS_REQUESTS ?? 100);
const PAUSE_MS = 20;

/** The time of one request in the filter of an idle server. */
function idleCost(): Benchmark {
  const requests = { countTermination: () => {} };
  const answer = { type: 'raw', code: 200, contentType: '', body: '' } as const;
  const info = parseRequestInfo({ method: 'GET', path: PATH, watch: false });
  const user = { name: 'jane', groups: ['system:authenticated'] };
  const query = new URLSearchParams();
  const flowControl = flowController(
    {},
    { table: new ResourceTable(), metrics: new MetricsRegistry(), clock: realClock, turns: new RequestBatcher() },
  );
  const fair = priorityAndFairness({ flowControl, metrics: new MetricsRegistry(), requests });
  const limited = limitInFlight({ metrics: new MetricsRegistry(), requests });
  const through = (filter: typeof fair) => () => {
    let finish: () => void = () => {};
    const request = { info, user, query, isLocal: false, onFinished: (callback: () => void) => (finish = callback) };
    filter(request as unknown as ApiRequest, () => answer);
    finish();
  };
  return {
    kind: 'micro',
    name: 'flow control of one request, nothing else going on',
    baseline: { name: 'limits for all requests together', run: through(limited) },
    subject: { name: 'priority and fairness', run: through(fair) },
  };
}

function send(port: number, token: string, { agent, body }: { agent?: https.Agent; body?: string } = {}): Promise<number> {
  return new Promise((done, reject) => {
    const path = body === undefined ? PATH : '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const options = { host: '127.0.0.1', port, path, method, headers, rejectUnauthorized: false, ...(agent && { agent }) };
    const request = https.request(options, (response) => response.resume().once('end', () => done(response.statusCode ?? 0)));
    request.once('error', reject);
    request.end(body);
  });
}

async function startServer(directory: string): Promise<ServerProcess> {
  const users = Array.from({ length: POLITE }, (_, i) => `polite-${i},polite-${i},${i + 2},load`);
  const file = join(directory, 'users.csv');
  writeFileSync(file, [`${TOKEN},bench,1,"system:masters"`, 'noisy,noisy,100,load', ...users, ''].join('\n'));
  const server = await startSampan(directory, ['--apiserver-arg', `token-auth-file=${file}`]);
  const subjects = [{ kind: 'Group', name: 'load', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' };
  const code = await send(server.port, TOKEN, { body: JSON.stringify({ metadata: { name: 'load' }, subjects, roleRef }) });
  if (code !== 201) throw new Error(`the server answered ${code}`);
  return server;
}

/** The 99th percentile of request times of polite clients, in milliseconds. */
async function politeP99(isNoisy: boolean): Promise<number> {
  using directory = temporaryDirectory();
  await using server = await startServer(directory.path);
  const { port } = server;
  const workerData = { port, token: 'noisy', path: PATH, connections: NOISY_CONNECTIONS };
  const noise = isNoisy ? new Worker(resolve(process.cwd(), 'test/bench/noisy-client.mjs'), { workerData }) : undefined;
  if (noise) await once(noise, 'message');
  const times: number[] = [];
  await Promise.all(Array.from({ length: POLITE }, (_, i) => askPolitely(port, `polite-${i}`, times)));
  if (noise) {
    noise.postMessage('stop');
    await once(noise, 'exit');
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

async function askPolitely(port: number, token: string, times: number[]): Promise<void> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < REQUESTS; i++) {
    await realClock.sleep(PAUSE_MS);
    const start = performance.now();
    const code = await send(port, token, { agent });
    if (code !== 200) throw new Error(`a polite client was answered ${code}`);
    // The first request opens the connection.
    if (i > 0) times.push(performance.now() - start);
  }
  agent.destroy();
}

export const benchmarks: readonly Benchmark[] = [
  idleCost(),
  {
    kind: 'macro',
    name: `p99 of ${POLITE} polite clients beside one with ${NOISY_CONNECTIONS} connections`,
    unit: 'ms',
    better: 'lower',
    rounds: 3,
    baseline: { name: 'without the noisy one', measure: () => politeP99(false) },
    subject: { name: 'beside it', measure: () => politeP99(true) },
  },
];
