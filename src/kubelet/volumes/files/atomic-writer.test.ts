import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import { type ProjectedFile, writeAtomically } from './atomic-writer.ts';

const deps = { clock: new VirtualClock(), random: seededRandom('writer') };
const file = (text: string, mode = 0o644): ProjectedFile => ({ data: Buffer.from(text), mode });
const payloadOf = (files: Readonly<Record<string, string>>) => new Map(Object.entries(files).map(([path, text]) => [path, file(text)]));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'volume-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** The files as a container sees them, without the writer's internal names. */
async function visible(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const walk = async (prefix: string): Promise<void> => {
    for (const name of await readdir(join(directory, prefix))) {
      if (prefix === '' && name.startsWith('..')) continue;
      const path = join(prefix, name);
      if ((await stat(join(directory, path))).isDirectory()) await walk(path);
      else files[path] = await readFile(join(directory, path), 'utf8');
    }
  };
  await walk('');
  return files;
}

describe('a volume that is written atomically', () => {
  it('shows its files through the link of the current state', async () => {
    await writeAtomically(
      directory,
      new Map([
        ['a', file('A')],
        ['sub/b', file('B', 0o400)],
      ]),
      deps,
    );
    expect(await visible()).toEqual({ a: 'A', 'sub/b': 'B' });
    expect(await readlink(join(directory, 'a'))).toBe('..data/a');
    expect(await readlink(join(directory, 'sub'))).toBe('..data/sub');
    expect(await readlink(join(directory, '..data'))).toMatch(/^\.\.\d{4}(_\d\d){5}\.\d+$/);
    expect((await stat(join(directory, 'sub/b'))).mode & 0o7777).toBe(0o400);
    expect((await stat(join(directory, '..data'))).mode & 0o7777).toBe(0o755);
  });

  it.skipIf(process.getuid?.() !== 0)('gives links to the owner of their files', async () => {
    await writeAtomically(directory, new Map([['token', { ...file('T'), user: 1000 }]]), deps);
    expect(await lstat(join(directory, 'token'))).toMatchObject({ uid: 1000 });
    expect(await stat(join(directory, 'token'))).toMatchObject({ uid: 1000 });
    expect(await lstat(join(directory, '..data'))).toMatchObject({ uid: 0 });
  });

  it('is left alone when nothing changed', async () => {
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    const before = await readlink(join(directory, '..data'));
    expect(await writeAtomically(directory, payloadOf({ a: 'A' }), deps)).toBe(false);
    expect(await readlink(join(directory, '..data'))).toBe(before);
  });

  it('is completed when its writer died between the switch and the links', async () => {
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    await rm(join(directory, 'a'));
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    expect(await visible()).toEqual({ a: 'A' });
  });

  it('is written anew when its directory is missing', async () => {
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    await rm(join(directory, await readlink(join(directory, '..data'))), { recursive: true });
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    expect(await visible()).toEqual({ a: 'A' });
  });

  it('keeps directories that subPaths made in it', async () => {
    await writeAtomically(directory, payloadOf({ a: 'A' }), deps);
    await mkdir(join(directory, 'made'));
    await writeAtomically(directory, payloadOf({ b: 'B' }), deps);
    expect((await lstat(join(directory, 'made'))).isDirectory()).toBe(true);
  });

  it.each(['', '/etc/passwd', '../x', 'a/../../x', '..data/x', '..x', 'x'.repeat(5000)])('refuses the path %s', async (path) => {
    await expect(writeAtomically(directory, payloadOf({ [path]: 'x' }), deps)).rejects.toThrow('invalid path');
    expect(await readdir(directory)).toEqual([]);
  });

  it('shows exactly the last payload after any sequence of them', async () => {
    const path = fc.constantFrom('a', 'b', 'c/d', 'c/e', 'f/g/h');
    const payload = fc.dictionary(path, fc.string({ maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(fc.array(payload, { minLength: 1, maxLength: 5 }), async (payloads) => {
        for (const files of payloads) {
          await writeAtomically(directory, payloadOf(files), deps);
          expect(await visible()).toEqual({ ...files });
        }
        const own = (await readdir(directory)).filter((name) => name.startsWith('..'));
        expect(own).toHaveLength(2);
      }),
      { numRuns: 30 },
    );
  });
});
