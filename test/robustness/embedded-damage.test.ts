import { copyFile, cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { openEmbeddedStore, restoreEmbeddedStore, StoreError } from '#store';
import { bundleProgram, type ChildProgram } from './child-program.ts';
import { patience, SEED, times } from './length.ts';

let parent: string;
let reader: ChildProgram;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sampan-damage-'));
  reader = await bundleProgram('reader');
  await using store = await openEmbeddedStore({ directory: join(parent, 'whole') });
  for (let i = 0; i < 40; i++) {
    await store.txn({
      write: Array.from({ length: 50 }, (_, j) => ({ type: 'put', key: `/k/${j}`, value: Buffer.alloc(10 + ((i * j) % 9_000), i) })),
    });
  }
  await store.snapshot(join(parent, 'snapshot'));
});

afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await rm(parent, { recursive: true, force: true });
});

async function copyOfStore(name: string): Promise<string> {
  const directory = join(parent, name);
  await rm(directory, { recursive: true, force: true });
  await cp(join(parent, 'whole'), directory, { recursive: true });
  return directory;
}

/** Opens and reads everything in a separate process, which a damaged file must not crash. */
async function readElsewhere(
  directory: string,
  verify: boolean,
): Promise<{ readonly code: number | null; readonly lines: readonly string[]; readonly errors: string }> {
  const running = reader.start([directory, String(verify)]);
  const { code } = await running.ended;
  return { code, lines: running.lines, errors: running.errors.join('') };
}

test('the whole store can be read', async () => {
  expect(await readElsewhere(await copyOfStore('good'), true)).toMatchObject({ code: 0, lines: ['50 keys at 41'] });
});

test(`a file cut off anywhere is refused, or nothing of it is missing (seed ${SEED})`, { timeout: patience(60_000) }, async () => {
  const random = seededRandom(`${SEED} cut`);
  const { size } = await stat(join(parent, 'whole/data.mdb'));
  let refused = 0;
  for (let round = 0; round < times(16, 500); round++) {
    const directory = await copyOfStore('cut');
    const file = join(directory, 'data.mdb');
    await truncate(
      file,
      random.pick([0, 1, 100, 4_096, 8_191, 8_192, size - 1, size - 4_096, size - 4_097, random.int(size), random.int(size)]),
    );
    const before = await readFile(file);
    const { code, lines, errors } = await readElsewhere(directory, false);
    expect(code, errors).toBe(0);
    const line = lines[0] ?? '';
    if (line.startsWith('corrupt')) refused++;
    else expect(line).toBe('50 keys at 41');
    if (line.startsWith('corrupt')) expect(before.equals(await readFile(file)), 'a refused file is not touched').toBe(true);
  }
  expect(refused).toBeGreaterThan(0);
});

test(`pages overwritten with something else are found by a thorough look (seed ${SEED})`, { timeout: patience(60_000) }, async () => {
  const random = seededRandom(`${SEED} torn`);
  const { size } = await stat(join(parent, 'whole/data.mdb'));
  let refused = 0;
  for (let round = 0; round < times(12, 300); round++) {
    const directory = await copyOfStore('torn');
    await using handle = await open(join(directory, 'data.mdb'), 'r+');
    // The header of a page; free space may contain anything, and values are not checked.
    const page = random.int(Math.floor(size / 4_096));
    await handle.write(Buffer.from(random.bytes(64)), 0, 64, page * 4_096);
    const { code, lines, errors } = await readElsewhere(directory, true);
    expect(code, errors).toBe(0);
    if (/^(corrupt|unsupported-format)/.test(lines[0] ?? '')) refused++;
  }
  expect(refused).toBeGreaterThan(times(12, 300) / 4);
});

const FOREIGN: readonly [string, (directory: string) => Promise<unknown>, string][] = [
  ['someone else’s files', (directory) => writeFile(join(directory, 'notes.txt'), 'mine'), 'corrupt'],
  ['a data file without a mark', (directory) => copyFile(join(parent, 'whole/data.mdb'), join(directory, 'data.mdb')), 'corrupt'],
  ['a mark that is none', (directory) => writeFile(join(directory, 'store.json'), '{}'), 'corrupt'],
  ['a mark that is no JSON', (directory) => writeFile(join(directory, 'store.json'), 'x'), 'corrupt'],
  ['a mark without its data', (directory) => copyFile(join(parent, 'whole/store.json'), join(directory, 'store.json')), 'corrupt'],
  [
    'data that is none',
    async (directory) => {
      await copyFile(join(parent, 'whole/store.json'), join(directory, 'store.json'));
      await writeFile(join(directory, 'data.mdb'), Buffer.alloc(50_000, 'hello '));
    },
    'corrupt',
  ],
];

test.each(FOREIGN)('%s are refused and not touched', async (name, make, code) => {
  const directory = join(parent, name.replaceAll(/\W/g, '-'));
  await mkdir(directory);
  await make(directory);
  const before = await contents(directory);
  await expect(openEmbeddedStore({ directory })).rejects.toMatchObject({ name: 'StoreError', code });
  expect(await contents(directory)).toEqual(before);
});

test('a snapshot with a flipped bit, or cut off, is refused, and the directory stays free', async () => {
  const snapshot = await readFile(join(parent, 'snapshot'));
  const random = seededRandom(`${SEED} snapshot`);
  const directory = join(parent, 'restored');
  for (let round = 0; round < 20; round++) {
    const spoilt = Buffer.from(round % 2 === 0 ? snapshot : snapshot.subarray(0, random.int(snapshot.length)));
    if (round % 2 === 0) spoilt[random.int(spoilt.length)]! ^= 1 << random.int(8);
    const file = join(parent, 'spoilt');
    await writeFile(file, spoilt);
    await expect(restoreEmbeddedStore({ snapshot: file, directory })).rejects.toBeInstanceOf(StoreError);
  }
  await restoreEmbeddedStore({ snapshot: join(parent, 'snapshot'), directory });
  await expect(restoreEmbeddedStore({ snapshot: join(parent, 'snapshot'), directory })).rejects.toMatchObject({ code: 'invalid' });
  await using store = await openEmbeddedStore({ directory, verify: true });
  expect(await store.revision()).toBe(41);
});

async function contents(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, (await readFile(join(directory, name))).toString('base64')])),
  );
}
