import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { core } from '#api';
import { realClock } from '#base';
import { startCluster } from '#testing';

const run = promisify(execFile);
export const FORKED_OBJECTS = 1_000;
const OPTIONS = { nodes: 3, clock: 'virtual' } as const;

/** The cost of an empty process. */
export async function bareNode(): Promise<number> {
  const since = realClock.monotonic();
  await run(process.execPath, ['-e', '0']);
  return realClock.monotonic() - since;
}

/** Milliseconds of the first `startCluster()` of a process, as in the first test of a file: nothing is compiled yet. */
export async function firstInItsProcess(): Promise<number> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', FIRST]);
  return Number(stdout);
}

const FIRST = `
import { startCluster } from './dist/testing.js';
const since = performance.now();
const cluster = await startCluster(${JSON.stringify(OPTIONS)});
console.log(performance.now() - since);
await cluster[Symbol.asyncDispose]();
`;

/** Milliseconds to start a cluster in this process, and to fork it with objects. */
export async function runFork(): Promise<{ startMs: number; forkMs: number }> {
  const since = realClock.monotonic();
  await using cluster = await startCluster(OPTIONS);
  const startMs = realClock.monotonic() - since;
  const configMaps = cluster.client.of(core.ConfigMap);
  const names = Array.from({ length: FORKED_OBJECTS }, (_, i) => `c-${i}`);
  const create = (name: string) => configMaps.create({ metadata: { name, namespace: 'default' }, data: { name } });
  await cluster.clock.until(Promise.all(names.map(create)));
  const launchMs = realClock.monotonic();
  await using fork = await cluster.fork();
  const forkMs = realClock.monotonic() - launchMs;
  const { items } = await fork.clock.until(fork.client.of(core.ConfigMap).list({ namespace: 'default' }));
  if (items.length < FORKED_OBJECTS) throw new Error(`the fork has ${items.length} of ${FORKED_OBJECTS} objects`);
  return { startMs, forkMs };
}
