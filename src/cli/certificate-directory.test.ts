import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realClock, seededRandom } from '#base';
import { pairInDirectory } from './certificate-directory.ts';

const cwd = mkdtempSync(path.join(tmpdir(), 'sampan-cert-dir-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const subjects = { commonName: 'apiserver', authorityName: 'apiserver-ca', dnsNames: ['kubernetes'], ipAddresses: ['127.0.0.1'] };
const pairIn = (directory: string) =>
  pairInDirectory({ directory, name: 'apiserver', subjects }, { cwd }, { clock: realClock, random: seededRandom('cert-dir') });

test('a server without a certificate makes one, and finds it at its next start', () => {
  const { cert, key } = pairIn('run/certs');
  expect([cert, key]).toEqual([path.join(cwd, 'run/certs/apiserver.crt'), path.join(cwd, 'run/certs/apiserver.key')]);
  expect(new X509Certificate(readFileSync(cert)).checkHost('kubernetes')).toBe('kubernetes');
  expect(statSync(key).mode & 0o777).toBe(0o600);
  const before = readFileSync(cert, 'utf8');
  pairIn('run/certs');
  expect(readFileSync(cert, 'utf8')).toBe(before);
});

test('a directory that cannot be written is named', () => {
  writeFileSync(path.join(cwd, 'file'), '');
  expect(() => pairIn('file')).toThrow(`--cert-dir: cannot write ${path.join(cwd, 'file/apiserver.crt')}`);
});
