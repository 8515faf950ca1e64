import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aesCbc, aesGcm, extendedNonceGcm, secretbox } from './ciphers.ts';
import { type DecryptedValue, identity, prefixTransformers, type Transformer } from './transformer.ts';

const open = (transformer: Transformer, stored: Buffer, key = '/registry/secrets/a/b') =>
  (transformer.decrypt(stored, key) as DecryptedValue).bytes;

describe.each([
  ['aesgcm', aesGcm(randomBytes(32)), true],
  ['aesgcm with 16 bytes', aesGcm(randomBytes(16)), true],
  ['aescbc', aesCbc(randomBytes(32)), false],
  ['secretbox', secretbox(randomBytes(32)), true],
  ['extended nonce', extendedNonceGcm(randomBytes(32)), true],
] as const)('%s', (_, transformer, isAuthenticated) => {
  it('opens what it made, at every length', () => {
    for (let length = 0; length < 70; length++) {
      const plain = randomBytes(length);
      expect(open(transformer, transformer.encrypt(plain, '/registry/secrets/a/b'))).toEqual(plain);
    }
  });

  it('never makes the same twice', () => {
    expect(transformer.encrypt(Buffer.from('x'), 'k')).not.toEqual(transformer.encrypt(Buffer.from('x'), 'k'));
  });

  it('refuses what is too short', () => {
    expect(() => open(transformer, randomBytes(5))).toThrow('shorter than the required size');
  });

  it.runIf(isAuthenticated)('refuses what was changed', () => {
    const stored = transformer.encrypt(Buffer.from('the value'), 'k');
    for (let i = 0; i < stored.length; i++) {
      const changed = Buffer.from(stored);
      changed[i]! ^= 1;
      expect(() => open(transformer, changed, 'k')).toThrow();
    }
  });
});

it('a value encrypted for one key cannot be decrypted at another', () => {
  for (const transformer of [aesGcm(randomBytes(32)), extendedNonceGcm(randomBytes(32))])
    expect(() => open(transformer, transformer.encrypt(Buffer.from('x'), '/a'), '/b')).toThrow('message authentication failed');
});

it("reads upstream's layout: nonce, ciphertext, tag, with the key of the store authenticated", () => {
  const key = Buffer.alloc(32, 1);
  const nonce = Buffer.alloc(12, 2);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from('/registry/secrets/default/s'));
  const sealed = Buffer.concat([nonce, cipher.update('{}'), cipher.final(), cipher.getAuthTag()]);
  const stored = Buffer.concat([Buffer.from('k8s:enc:aesgcm:v1:key1:'), sealed]);
  const keys = prefixTransformers('no key', [{ prefix: Buffer.from('key1:'), transformer: aesGcm(key) }]);
  const providers = prefixTransformers('no prefix', [{ prefix: Buffer.from('k8s:enc:aesgcm:v1:'), transformer: keys }]);
  expect(open(providers, stored, '/registry/secrets/default/s').toString()).toBe('{}');
});

describe('several providers', () => {
  const [a, b] = [aesGcm(randomBytes(32)), aesGcm(randomBytes(32))];
  const named = (name: string, transformer: Transformer) => ({ prefix: Buffer.from(`k8s:enc:${name}:`), transformer });
  const plainPrefix = { prefix: Buffer.alloc(0), transformer: identity };
  const text = Buffer.from('{"kind":"Secret"}');

  it('write with the first and read with all; what the others wrote is stale', () => {
    const first = prefixTransformers('none', [named('a', a), named('b', b), plainPrefix]);
    const second = prefixTransformers('none', [named('b', b), named('a', a)]);
    expect(first.encrypt(text, 'k').subarray(0, 10).toString()).toBe('k8s:enc:a:');
    expect(first.decrypt(first.encrypt(text, 'k'), 'k')).toEqual({ bytes: text, isStale: false });
    expect(first.decrypt(second.encrypt(text, 'k'), 'k')).toEqual({ bytes: text, isStale: true });
    expect(first.decrypt(text, 'k')).toEqual({ bytes: text, isStale: true });
  });

  it('read what is encrypted though identity comes first', () => {
    const migrating = prefixTransformers('none', [plainPrefix, named('a', a)]);
    expect(migrating.encrypt(text, 'k')).toEqual(text);
    expect(migrating.decrypt(prefixTransformers('none', [named('a', a)]).encrypt(text, 'k'), 'k')).toEqual({ bytes: text, isStale: true });
  });

  it('say what is wrong with a value that none of them opens', () => {
    const stored = prefixTransformers('none', [named('a', a)]).encrypt(text, 'k');
    expect(() => prefixTransformers('no matching prefix found', [named('b', b)]).decrypt(stored, 'k')).toThrow('no matching prefix found');
    expect(() => prefixTransformers('none', [named('a', b)]).decrypt(stored, 'k')).toThrow('message authentication failed');
    expect(() => prefixTransformers('none', [plainPrefix]).decrypt(stored, 'k')).toThrow('none');
  });
});
