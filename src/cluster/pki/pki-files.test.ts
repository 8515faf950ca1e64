import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realClock, seededRandom } from '#base';
import { DataDirectory } from '../data/data-directory.ts';
import { loadPki } from './pki-files.ts';

let directory: DataDirectory;
const load = async () => {
  const { serviceAccountKey, ...certificates } = await loadPki(directory, {
    names: {},
    now: realClock.now(),
    random: seededRandom('files'),
  });
  return { ...certificates, serviceAccountKey: typeof serviceAccountKey === 'string' ? serviceAccountKey : await serviceAccountKey() };
};
const file = (name: string) => path.join(directory.pki, name);

beforeEach(async () => {
  directory = new DataDirectory(mkdtempSync(path.join(tmpdir(), 'sampan-pki-')));
  await directory.create();
});
afterEach(() => rmSync(directory.root, { recursive: true }));

it('private keys are stored with mode 0600, and found again', async () => {
  const pki = await load();
  expect(statSync(file('ca.key')).mode & 0o777).toBe(0o600);
  expect(statSync(file('sa.key')).mode & 0o777).toBe(0o600);
  expect(await load()).toEqual(pki);
});

it('the service account key is created once, on first use, and used once it is saved', async () => {
  const options = { names: {}, now: realClock.now(), random: seededRandom('files') };
  const { serviceAccountKey: ask } = await loadPki(directory, options);
  if (typeof ask === 'string') throw new Error('there was no key before');
  expect(existsSync(file('sa.key'))).toBe(false);
  const [key, again] = await Promise.all([ask(), ask()]);
  expect(again).toBe(key);
  expect(readFileSync(file('sa.key'), 'utf8')).toBe(key);
  expect((await loadPki(directory, options)).serviceAccountKey).toBe(key);
});

it('the service account key is created again when it could not be saved', async () => {
  const { serviceAccountKey: ask } = await loadPki(directory, { names: {}, now: realClock.now(), random: seededRandom('files') });
  if (typeof ask === 'string') throw new Error('there was no key before');
  mkdirSync(file('sa.key.new'));
  await expect(ask()).rejects.toThrow('EISDIR');
  rmdirSync(file('sa.key.new'));
  expect(await ask()).toBe(readFileSync(file('sa.key'), 'utf8'));
});

it.each([
  ['ca.crt', 'certificate'],
  ['ca.key', 'private key'],
  ['apiserver.crt', 'certificate'],
  ['admin.key', 'private key'],
  ['sa.key', 'private key'],
])('names %s when it is damaged, and replaces nothing', async (name, noun) => {
  await load();
  writeFileSync(file(name), 'garbage');
  await expect(load()).rejects.toThrow(`${file(name)} is damaged: it holds no ${noun}; restore it, or delete it to have a new one made`);
  expect(readFileSync(file(name), 'utf8')).toBe('garbage');
  rmSync(file(name));
  await load();
  expect(existsSync(file(name))).toBe(true);
});

it('a certificate that does not match its key is named in the error', async () => {
  await load();
  copyFileSync(file('admin.key'), file('apiserver.key'));
  await expect(load()).rejects.toThrow(`${file('apiserver.crt')} does not belong to ${file('apiserver.key')}; restore the two`);
});
