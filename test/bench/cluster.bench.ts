import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { core } from '#api';
import { realClock } from '#base';
import { startCluster } from '#testing';
import type { Benchmark } from './harness.ts';

const sampan = resolve(import.meta.dirname, '../../dist/sampan.js');

/** From the start of the process to a cluster that is ready: API server, node, default service account. */
async function startToReady(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'sampan-cluster-bench-'));
  const since = realClock.monotonic();
  const args = ['up', '--data-dir', join(directory, 'data'), '--port', '0', '--no-merge', '--output', 'json'];
  const child = spawn(process.execPath, [sampan, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((ready, failed) => {
    child.stdout.once('data', ready);
    child.once('exit', (code) => failed(new Error(`sampan up ended with ${code}`)));
  });
  const ms = realClock.monotonic() - since;
  child.removeAllListeners('exit');
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
  rmSync(directory, { recursive: true, force: true });
  return ms;
}

/** What Node needs to start and do nothing. */
async function bareNode(): Promise<number> {
  const since = realClock.monotonic();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((done) => child.once('exit', done));
  return realClock.monotonic() - since;
}

async function testCluster(): Promise<number> {
  const since = realClock.monotonic();
  await using _cluster = await startCluster({ nodes: 1, clock: 'virtual' });
  return realClock.monotonic() - since;
}

async function forked(): Promise<number> {
  await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
  for (let i = 0; i < 1000; i++) {
    await cluster.clock.until(
      cluster.client.of(core.ConfigMap).create({ metadata: { name: `c-${i}`, namespace: 'default' }, data: { i: String(i) } }),
    );
  }
  const since = realClock.monotonic();
  await using _fork = await cluster.fork();
  return realClock.monotonic() - since;
}

const shape = { kind: 'macro', unit: 'ms', better: 'lower', rounds: 3 } as const;

export const benchmarks: Benchmark[] = [
  {
    ...shape,
    name: 'cluster: process start to ready, embedded store',
    baseline: { name: 'node -e 0', measure: bareNode },
    subject: { name: 'sampan up', measure: startToReady },
  },
  {
    ...shape,
    name: 'cluster: fork with 1,000 objects',
    baseline: { name: 'a new cluster', measure: testCluster },
    subject: { name: 'fork()', measure: forked },
  },
];
