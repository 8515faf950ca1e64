import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { openEmbeddedStore } from '#store';
import { bundleProgram, type ChildProgram } from './child-program.ts';
import { afterPowerCut, type DiskTrace, parseTrace, TRACED } from './disk-trace.ts';
import { patience, SEED, times } from './length.ts';

let parent: string;
let acknowledger: ChildProgram;

beforeAll(async () => {
  if (spawnSync('strace', ['--version']).error !== undefined) {
    throw new Error('strace is not installed: a power cut is played from the system calls it records (Debian: apt-get install strace)');
  }
  parent = await mkdtemp(join(tmpdir(), 'sampan-power-'));
  acknowledger = await bundleProgram('acknowledger');
});

afterAll(async () => {
  await acknowledger?.[Symbol.asyncDispose]();
  await rm(parent, { recursive: true, force: true });
});

async function record(way: 'store' | 'overlapping'): Promise<DiskTrace> {
  const output = join(parent, `${way}.trace`);
  // A slow medium, so that a promise that resolves too early is noticed.
  const slow = ['-e', 'inject=fdatasync,fsync:delay_enter=5000'];
  const strace = ['strace', '-f', ...slow, '-xx', '-y', '-s', '1000000', '-e', `trace=${TRACED}`, '-o', output];
  const running = acknowledger.start([join(parent, way), way, String(times(40, 400))], strace);
  await running.ended;
  expect(running.lines.at(-1), running.errors.join('')).toMatch(/^(ack|saw) /);
  return parseTrace(await readFile(output, 'latin1'), `${way}/data.mdb`);
}

interface PowerCut {
  readonly image: Buffer;
  /** What had been acknowledged, and what had been read. */
  readonly acknowledged: readonly string[];
  readonly seen: readonly string[];
}

/** Simulates cuts at all kinds of moments after the first acknowledgement. */
function* powerCuts(trace: DiskTrace, count: number): Generator<PowerCut> {
  const random = seededRandom(`${SEED} power`);
  const marks = trace.events.flatMap((event) =>
    event.kind === 'said' ? [{ word: event.text.slice(0, 3), key: `/${event.text.slice(4).trim()}`, time: event.end }] : [],
  );
  const first = marks.find(({ word }) => word === 'ack')!.time;
  const last = trace.events.at(-1)!.begin;
  for (let i = 0; i < count; i++) {
    // A missing flush shows right after an acknowledgement.
    const time = i % 4 === 0 ? first + random.int(last - first) : Math.max(first, random.pick(marks).time);
    const until = (expectedWord: string) => marks.filter(({ word, time: at }) => word === expectedWord && at <= time).map(({ key }) => key);
    yield { image: afterPowerCut(trace, time, random), acknowledged: until('ack'), seen: until('saw') };
  }
}

describe(`a power cut (seed ${SEED})`, () => {
  test('leaves everything that the store acknowledged, and everything that a read of it saw', { timeout: patience(60_000) }, async () => {
    const trace = await record('store');
    const directory = join(parent, 'after');
    for (const { image, acknowledged, seen } of powerCuts(trace, times(60, 2_000))) {
      await rm(directory, { recursive: true, force: true });
      await mkdir(directory);
      await copyFile(join(parent, 'store/store.json'), join(directory, 'store.json'));
      await writeFile(join(directory, 'data.mdb'), image);
      await using store = await openEmbeddedStore({ directory, verify: true });
      const page = await store.range({ select: 'keys' });
      const keys = new Set(page.status === 'ok' ? page.entries.map(({ key }) => key) : []);
      expect([...acknowledged, ...seen].filter((key) => !keys.has(key))).toEqual([]);
    }
  });

  test('may take what a read of lmdb saw with overlappingSync: why the store does without it', { timeout: patience(60_000) }, async () => {
    const trace = await record('overlapping');
    const file = join(parent, 'after.mdb');
    let [lost, undone] = [0, 0];
    for (const { image, acknowledged, seen } of powerCuts(trace, times(60, 400))) {
      await writeFile(file, image);
      const database = open(file, { encoding: 'binary', noSubdir: true });
      const missing = (keys: readonly string[]) => keys.filter((key) => database.getBinary(key) === undefined).length;
      lost += missing(acknowledged);
      undone += missing(seen);
      await database.close();
      await rm(`${file}-lock`, { force: true });
    }
    expect({ lost, undone: undone > 0 }).toEqual({ lost: 0, undone: true });
  });
});
