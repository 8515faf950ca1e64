import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realClock, seededRandom } from '#base';
import { createPki } from '#cluster';
import type { CliContext } from './context.ts';
import { PemFiles } from './pem-files.ts';

const cwd = mkdtempSync(path.join(tmpdir(), 'sampan-pem-'));
const context = { cwd } as CliContext;
const good = { 'tls-cert-file': 'crt', 'tls-private-key-file': 'key', 'client-ca-file': 'ca' };

beforeAll(async () => {
  const pki = await createPki({ names: {}, now: realClock.now(), random: seededRandom('pem') });
  const files = { crt: pki.serving.certificate, key: pki.serving.key, ca: pki.authority.certificate, other: pki.authority.key, bad: 'x' };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
});
afterAll(() => rmSync(cwd, { recursive: true }));

test('certificate and key files of a server are read', () => {
  expect(new PemFiles(good, context).serving()).toMatchObject({ certificate: expect.stringContaining('BEGIN CERTIFICATE') });
});

test.each([
  [{ 'tls-cert-file': undefined }, '--tls-cert-file is needed'],
  [{ 'tls-cert-file': 'nowhere' }, '--tls-cert-file: cannot read nowhere (ENOENT)'],
  [{ 'tls-cert-file': 'bad' }, '--tls-cert-file: bad holds no certificate'],
  [{ 'tls-private-key-file': 'bad' }, '--tls-private-key-file: bad holds no private key'],
  [{ 'tls-private-key-file': 'other' }, '--tls-private-key-file: other is not the key of the certificate'],
  [{ 'client-ca-file': 'bad' }, '--client-ca-file: bad holds no certificate'],
])('with %j the flag is named that is wrong', (wrong, message) => {
  expect(() => new PemFiles({ ...good, ...wrong }, context).serving()).toThrow(message);
});
