import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { core } from '#api';
import { createLogger, MetricsRegistry, realClock, seededRandom } from '#base';
import { GrpcRuntime, type Kubelet, noStreaming, startKubelet } from '#kubelet';
import { simulatedMachine } from '../../src/kubelet/cri/simulated/simulated-machine.ts';
import { type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { LIES, type LyingRuntime, startLyingRuntime } from './lying-runtime.ts';

// A misbehaving container runtime (garbage, floods, foreign ids, contradictions, silence): its kubelet continues, and recovers once the
// runtime does.

const SEED = Number(process.env.HOSTILE_SEED ?? 1);
const CALLS = Number(process.env.HOSTILE_CALLS ?? 300);
const POLL = { timeout: 60_000, interval: 200 };
const ENGINE_ERROR = /\b(Type|Range|Reference|Syntax)Error\b/;
const NODE = 'liar';

let directory: string;
let hostile: HostileCluster;
let liar: LyingRuntime;
let runtime: GrpcRuntime;
let kubelet: Kubelet;
const logged: string[] = [];
const faults: unknown[] = [];
const onFault = (error: unknown) => void faults.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', onFault);
  process.on('uncaughtException', onFault);
  directory = await mkdtemp(path.join(os.tmpdir(), 'lying-runtime-'));
  hostile = await startHostileCluster();
  liar = await startLyingRuntime(path.join(directory, 'cri.sock'), seededRandom(SEED));
  const logger = createLogger({ clock: realClock, level: 'debug', format: 'json', write: (line) => void logged.push(line) });
  const deps = { clock: realClock, random: seededRandom(SEED), logger, metrics: new MetricsRegistry() };
  // A second of silence is enough for the test.
  runtime = new GrpcRuntime({ endpoint: liar.endpoint, requestTimeoutMs: 1000 }, { ...deps, streaming: noStreaming });
  const client = hostile.cluster.clientAs({ name: `system:node:${NODE}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
  const prober = { probe: async () => ({ passed: true, output: '' }), httpGet: async () => ({}) };
  const logs = { async *read() {} };
  kubelet = startKubelet(
    { nodeName: NODE, nodeStatusUpdateMs: 500 },
    { ...deps, client, runtime, machine: simulatedMachine(NODE), prober, logs },
  );
  await kubelet.ready;
});
afterAll(async () => {
  await kubelet[Symbol.asyncDispose]();
  runtime[Symbol.dispose]();
  await liar[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
  process.off('unhandledRejection', onFault);
  process.off('uncaughtException', onFault);
});

const pods = () => hostile.cluster.client.of(core.Pod);
const key = (name: string) => ({ name, namespace: 'default' });

async function create(name: string): Promise<void> {
  const spec = {
    nodeName: NODE,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'busybox', imagePullPolicy: 'IfNotPresent' }],
  };
  await pods().create({ metadata: key(name), spec } as never);
}

const phase = async (name: string) => (await pods().get(key(name))).status?.phase;

async function ready(): Promise<string> {
  const { status } = await hostile.cluster.client.of(core.Node).get({ name: NODE });
  const { status: value, reason, message } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
  return `${value} ${reason}: ${message}`;
}

const READY = 'True KubeletReady: kubelet is posting ready status';

/** Until that many calls were made and every fault was injected. */
async function tellLies(calls: number): Promise<void> {
  const before = liar.calls;
  liar.lieRate = 0.7;
  await expect.poll(() => liar.calls - before > calls && liar.lieCounts.size === LIES.length, { ...POLL, timeout: 180_000 }).toBe(true);
  liar.lieRate = 0;
}

describe(`a runtime that lies (seed ${SEED})`, () => {
  test('runs pods while it tells the truth', async () => {
    await create('first');
    await expect.poll(() => phase('first'), POLL).toBe('Running');
    expect(await ready()).toBe(READY);
  });

  test(`does not bring down its kubelet with ${CALLS} calls, and all pods run once it tells the truth`, { timeout: 400_000 }, async () => {
    for (let i = 0; i < 5; i++) await create(`during-${i}`);
    await tellLies(CALLS);
    await create('after');
    for (const name of ['first', 'after', ...Array.from({ length: 5 }, (_, i) => `during-${i}`)])
      await expect.poll(() => phase(name), POLL).toBe('Running');
    await expect.poll(ready, POLL).toBe(READY);
    expect(logged.filter((line) => ENGINE_ERROR.test(line)).slice(0, 3)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('makes its node not ready when it is silent, and ready when it speaks again', { timeout: 120_000 }, async () => {
    liar.only = ['silence'];
    liar.lieRate = 1;
    await expect.poll(ready, POLL).toBe('False KubeletNotReady: container runtime is down');
    liar.lieRate = 0;
    await expect.poll(ready, POLL).toBe(READY);
    expect(await phase('first')).toBe('Running');
  });
});
