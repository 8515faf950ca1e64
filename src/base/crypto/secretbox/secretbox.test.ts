import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { poly1305 } from './poly1305.ts';
import { openSecretbox, sealSecretbox } from './secretbox.ts';

const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');

// The test vector of NaCl itself (tests/secretbox.c).
const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const message =
  hex(`be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde 048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864 5e0705`);
const box =
  hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce 48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae 90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3 7973f622a43d14a6599b1f654cb45a74e355a5`);

describe('a secretbox', () => {
  it("is NaCl's", () => {
    expect(sealSecretbox(key, nonce, message).toString('hex')).toBe(box.toString('hex'));
    expect(openSecretbox(key, nonce, box)?.toString('hex')).toBe(message.toString('hex'));
  });

  it('opens as it was, at every length around a block', () => {
    for (let length = 0; length < 200; length++) {
      const text = randomBytes(length);
      expect(openSecretbox(key, nonce, sealSecretbox(key, nonce, text))).toEqual(text);
    }
  });

  it('does not open when any byte was changed', () => {
    for (let i = 0; i < box.length; i++) {
      const changed = Buffer.from(box);
      changed[i]! ^= 1;
      expect(openSecretbox(key, nonce, changed)).toBeUndefined();
    }
    expect(openSecretbox(key, nonce, Buffer.alloc(3))).toBeUndefined();
    expect(openSecretbox(randomBytes(32), nonce, box)).toBeUndefined();
  });
});

// RFC 8439, 2.5.2 and A.3.
it.each([
  [
    '85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b',
    Buffer.from('Cryptographic Forum Research Group').toString('hex'),
    'a8061dc1305136c6c22b8baf0c0127a9',
  ],
  [
    '0200000000000000000000000000000000000000000000000000000000000000',
    'ffffffffffffffffffffffffffffffff',
    '03000000000000000000000000000000',
  ],
  [
    '02000000000000000000000000000000ffffffffffffffffffffffffffffffff',
    '02000000000000000000000000000000',
    '03000000000000000000000000000000',
  ],
  [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff11000000000000000000000000000000',
    '05000000000000000000000000000000',
  ],
])('Poly1305 of RFC 8439: %s', (oneTimeKey, text, tag) => {
  expect(poly1305(hex(oneTimeKey), hex(text)).toString('hex')).toBe(tag);
});
