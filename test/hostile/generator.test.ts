import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realClock, seededRandom } from '#base';
import { apiVersionOf } from '#machinery';
import { baseObject } from './base-objects.ts';
import { InputGenerator } from './generator.ts';
import { ADMIN_TOKEN, type HostileCluster, type Reply, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

/** `HOSTILE_INPUTS=1000000 HOSTILE_SEED=7 npx vitest run test/hostile/generator.test.ts` for the long run. */
const INPUTS = Number(process.env.HOSTILE_INPUTS ?? 20_000);
const SEED = Number(process.env.HOSTILE_SEED ?? 1);
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;

/** Upstream returns 500 for some bad input, and so do we, with the same message. A JavaScript engine error is a bug. */
const ENGINE_ERROR = /\b(Type|Range|Reference|Syntax|Eval)Error\b/;

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster();
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
});

/** With its CPU time. */
async function timed(ask: () => Promise<Reply>): Promise<{ reply: Reply; spentMs: number }> {
  const [cpu, wall] = [process.cpuUsage(), realClock.monotonic()];
  const reply = await ask();
  const { user, system } = process.cpuUsage(cpu);
  return { reply, spentMs: Math.min((user + system) / 1000, realClock.monotonic() - wall) };
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test(`none of ${INPUTS} inputs with seed ${SEED} crashes, stalls or fills the server`, { timeout: 24 * 3_600_000 }, async () => {
  const targets = [...hostile.cluster.apiServer.table.all()].filter(({ verbs }) => verbs.includes('create'));
  // An object for patches.
  for (const target of targets) {
    const { group, version, resource, namespaced } = target;
    const path = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${resource}`;
    const body = JSON.stringify(baseObject({ ...target, apiVersion: apiVersionOf(target) }));
    await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body });
  }
  const generator = new InputGenerator(targets, seededRandom(SEED));
  const failures = new Map<string, string>();
  const codes = new Map<number, number>();
  let before = 0;
  for (let i = 0; i < INPUTS; i++) {
    // After the first part everything is compiled and cached.
    if (i === Math.floor(INPUTS / 4)) before = heapBytes();
    const { path, send, text } = generator.next();
    const loggedBefore = hostile.logged.length;
    const ask = () => hostile.send(path, { ...send, token: ADMIN_TOKEN });
    const first = await timed(ask);
    const { reply } = first;
    // A request may take long if it yields to others.
    const spentMs = first.spentMs > TURN_BUDGET_MS ? (await timedTurns(TURN_BUDGET_MS, ask)).longestMs : first.spentMs;
    codes.set(reply.code, (codes.get(reply.code) ?? 0) + 1);
    const fault = hostile.logged.slice(loggedBefore).find((line) => ENGINE_ERROR.test(line));
    if (fault !== undefined) failures.set(fault.slice(0, 1200), `input ${i}: ${text}`);
    if (spentMs > TURN_BUDGET_MS) failures.set(`${Math.round(spentMs)} ms for ${text}`, `input ${i}`);
    if (failures.size > 20) break;
  }
  expect(Object.fromEntries(failures)).toEqual({});
  expect(heapBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
  // Some must pass validation (409: the object exists), or only the decoder is tested.
  const valid = [200, 201, 409].reduce((sum, code) => sum + (codes.get(code) ?? 0), 0);
  expect(valid).toBeGreaterThan(INPUTS / 50);
});
