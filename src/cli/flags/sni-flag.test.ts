import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSelfSigned, realClock, systemRandom } from '#base';
import type { CliContext } from '../context.ts';
import { parseSniFlag, withSniCertificates } from './sni-flag.ts';

it.each([
  ['c,k', { certFile: 'c', keyFile: 'k', names: [] }],
  [' c , k : a.b , *.c ', { certFile: 'c', keyFile: 'k', names: ['a.b', '*.c'] }],
  ['c,k:::1', { certFile: 'c', keyFile: 'k', names: ['::1'] }],
])("--tls-sni-cert-key '%s' is taken apart", (value, expected) => {
  expect(parseSniFlag(value)).toEqual(expected);
});

it.each([
  ['c', 'expected comma separated certificate and key file paths'],
  ['c,k,x', 'expected comma separated certificate and key file paths'],
  ['c,k:', 'empty names list is not allowed'],
])("--tls-sni-cert-key '%s' is an error", (value, message) => {
  expect(() => parseSniFlag(value)).toThrow(message);
});

const pair = () =>
  createSelfSigned({ commonName: 'a', authorityName: 'ca', dnsNames: ['a'], ipAddresses: [] }, { clock: realClock, random: systemRandom });

function directory(files: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(path.join(os.tmpdir(), 'sampan-sni-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { write, context: { cwd } as unknown as CliContext };
}

it.each([
  ['a missing file', { key: 'k' }, 'failed to load SNI cert and key: cannot read cert (ENOENT)'],
  ['an empty file', { cert: '', key: '' }, 'missing content for serving cert "sni-serving-cert::cert::key"'],
  ['the key of another certificate', { cert: pair().cert, key: pair().key }, 'tls: private key does not match public key'],
])('%s is an error at the start', (_what, files, message) => {
  const { context } = directory(files as Record<string, string>);
  expect(() => withSniCertificates({}, 'cert,key', context)).toThrow(message);
});

it('certificates of several flags are read in their order, anew at each call', () => {
  const [first, second, renewed] = [pair(), pair(), pair()];
  const { context, write } = directory({ c1: first.cert, k1: first.key, c2: second.cert, k2: second.key });
  const { sniCertificates } = withSniCertificates(withSniCertificates({}, 'c1,k1:x', context), 'c2,k2', context);
  write('c2', renewed.cert);
  write('k2', renewed.key);
  expect(sniCertificates?.()).toEqual([
    { ...first, names: ['x'] },
    { ...renewed, names: [] },
  ]);
});
