import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realClock } from '#base';
import { openMemoryStore } from '#store';
import { DataDirectory } from './data-directory.ts';
import { secretsEncryption, throwIfKeyIsLost } from './encryption-file.ts';

let directory: DataDirectory;
beforeEach(() => {
  directory = new DataDirectory(mkdtempSync(path.join(os.tmpdir(), 'sampan-encrypt-')));
});
afterEach(() => rmSync(directory.root, { recursive: true }));

it('the encryption key is created on request with mode 0600, and always used afterwards', async () => {
  expect(await secretsEncryption(directory, false)).toBeUndefined();
  const configuration = await secretsEncryption(directory, true);
  expect(configuration).toEqual({ path: directory.encryption, reload: true });
  expect(statSync(directory.encryption).mode & 0o777).toBe(0o600);
  const text = readFileSync(directory.encryption, 'utf8');
  expect(await secretsEncryption(directory, false)).toEqual(configuration);
  expect(await secretsEncryption(directory, true)).toEqual(configuration);
  expect(readFileSync(directory.encryption, 'utf8')).toBe(text);
});

it('a lost encryption key is reported at the start, with a secret that needs it', async () => {
  await using store = openMemoryStore({ clock: realClock });
  const put = (name: string, text: string) =>
    store.txn({ write: [{ type: 'put', key: `/registry/secrets/default/${name}`, value: Buffer.from(text) }] });
  await put('a', '{}');
  await throwIfKeyIsLost(directory, store);
  await put('b', 'k8s:enc:secretbox:v1:key1:x');
  await expect(throwIfKeyIsLost(directory, store)).rejects.toThrow(
    `secrets are encrypted (/registry/secrets/default/b), and their key is not in ${directory.encryption}`,
  );
});
