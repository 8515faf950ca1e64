import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirectory } from './data-directory.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'sampan-data-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('a data directory and its parents are created with mode 0700, repeatedly', async () => {
  const directory = new DataDirectory(path.join(home, 'a/b/c'));
  await directory.create();
  await directory.create();
  for (const created of [path.join(home, 'a'), directory.root, directory.pki]) expect(statSync(created).mode & 0o777).toBe(0o700);
});

it('the write check of a data directory leaves nothing behind', async () => {
  const directory = new DataDirectory(home);
  await directory.create();
  expect(existsSync(path.join(home, '.writable'))).toBe(false);
});

it.runIf(process.platform === 'linux').each(['/proc/x', '/proc', '/sys/x', '/dev/full', '/dev/null/x'])(
  'says at once that %s cannot hold it',
  async (root) => {
    const error = await new DataDirectory(root).create().catch((failure: Error) => failure);
    expect(String(error)).toMatch(
      new RegExp(`cannot write to the data directory ${root} \\(E[A-Z]+.*\\); choose another with --data-dir$`),
    );
  },
);

it('a file in place of the data directory is a clear error', async () => {
  writeFileSync(path.join(home, 'file'), '');
  await expect(new DataDirectory(path.join(home, 'file')).create()).rejects.toThrow(
    'file (ENOTDIR: there is a file where a directory is needed); choose another with --data-dir',
  );
});

it.runIf(process.getuid?.() !== 0)('says that the user may not write there', async () => {
  chmodSync(home, 0o500);
  await expect(new DataDirectory(path.join(home, 'x')).create()).rejects.toThrow('(EACCES: this user may not)');
  chmodSync(home, 0o700);
});

it("removing a data directory keeps files that are not the cluster's", async () => {
  const directory = new DataDirectory(home);
  expect(await directory.exists()).toBe(false);
  await directory.create();
  expect(await directory.exists()).toBe(true);
  await directory.write(directory.state, '{}');
  for (const name of ['kubelet/pods', 'local-volumes/pvc-1']) mkdirSync(path.join(home, name), { recursive: true });
  writeFileSync(path.join(home, 'thesis.txt'), 'mine');
  await directory.remove();
  expect(readdirSync(home)).toEqual(['thesis.txt']);
  rmSync(path.join(home, 'thesis.txt'));
  await directory.remove();
  expect(existsSync(home)).toBe(false);
});
