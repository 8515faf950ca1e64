import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthority, encodePem, type KeyPair, seededRandom } from '#base';
import { secretBehaviour } from './secret.behaviour.ts';
import { tlsKeyPairProblem } from './tls-key-pair.ts';

const firstPair = authority(1);
const others = authority(2);
const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;

function authority(seed: number): KeyPair {
  return createAuthority({ subject: { commonName: 'a' }, notBefore: 0, notAfter: Date.UTC(2100, 0) }, seededRandom(seed));
}

test('a certificate with its own key is valid', () => {
  expect(tlsKeyPairProblem(firstPair.certificate, firstPair.key)).toBeUndefined();
  expect(
    tlsKeyPairProblem(`words\n${firstPair.certificate}${others.certificate}`, `${firstPair.certificate}${firstPair.key}`),
  ).toBeUndefined();
});

test.each([
  ['no certificate', 'x', firstPair.key, 'tls: failed to find any PEM data in certificate input'],
  [
    'base64 that is none',
    '-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----',
    firstPair.key,
    'tls: failed to find any PEM data in certificate input',
  ],
  ['no key', firstPair.certificate, '', 'tls: failed to find any PEM data in key input'],
  [
    'a certificate as key',
    firstPair.certificate,
    firstPair.certificate,
    'tls: found a certificate rather than a key in the PEM for the private key',
  ],
  ['a certificate of nothing', encodePem('CERTIFICATE', Buffer.from('x')), firstPair.key, 'x509: malformed certificate'],
  ['a key of nothing', firstPair.certificate, encodePem('PRIVATE KEY', Buffer.from('x')), 'tls: failed to parse private key'],
  ['a key of another sort', firstPair.certificate, rsaKey, 'tls: private key type does not match public key type'],
  ['a key of another', firstPair.certificate, others.key, 'tls: private key does not match public key'],
  [
    'a key as certificate',
    firstPair.key,
    firstPair.key,
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [
    'other things',
    encodePem('A', Buffer.from('a')) + encodePem('B', Buffer.from('b')),
    firstPair.key,
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
  ],
])('%s is told of', (_, certificate, key, problem) => {
  expect(tlsKeyPairProblem(certificate, key)).toBe(problem);
});

test('secrets for TLS warn of a pair that is none, and other secrets do not', () => {
  const secret = { metadata: { name: 'a' }, data: { 'tls.crt': 'eA==', 'tls.key': 'eQ==' } };
  expect(secretBehaviour.warnings?.({ ...secret, type: 'kubernetes.io/tls' })).toEqual([
    'tls: failed to find any PEM data in certificate input',
  ]);
  expect(secretBehaviour.warnings?.({ ...secret, type: 'Opaque' })).toEqual([]);
});
