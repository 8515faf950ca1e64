import { timingSafeEqual } from 'node:crypto';
import { poly1305 } from './poly1305.ts';
import { hsalsa20, salsa20 } from './salsa20.ts';

export const SECRETBOX_KEY_BYTES = 32;
export const SECRETBOX_NONCE_BYTES = 24;
export const SECRETBOX_OVERHEAD_BYTES = 16;
/** The first bytes of the key stream are the authenticator's key. */
const AUTHENTICATOR_KEY_BYTES = 32;

/** XSalsa20-Poly1305, as in NaCl: the authenticator, then the encrypted message. A nonce must never be reused with a key. */
export function sealSecretbox(key: Buffer, nonce: Buffer, message: Buffer): Buffer {
  const stream = keyStream(key, nonce, message);
  const cipher = stream.subarray(AUTHENTICATOR_KEY_BYTES);
  const tag = poly1305(stream.subarray(0, AUTHENTICATOR_KEY_BYTES), cipher);
  return Buffer.concat([tag, cipher]);
}

/** Undefined if it was not sealed with this key and nonce, or was tampered with. */
export function openSecretbox(key: Buffer, nonce: Buffer, box: Buffer): Buffer | undefined {
  if (box.length < SECRETBOX_OVERHEAD_BYTES) return undefined;
  const cipher = box.subarray(SECRETBOX_OVERHEAD_BYTES);
  const authenticatorKey = keyStream(key, nonce, Buffer.alloc(0)).subarray(0, AUTHENTICATOR_KEY_BYTES);
  if (!timingSafeEqual(poly1305(authenticatorKey, cipher), box.subarray(0, SECRETBOX_OVERHEAD_BYTES))) return undefined;
  return keyStream(key, nonce, cipher).subarray(AUTHENTICATOR_KEY_BYTES);
}

/** The authenticator's key, then the encrypted message. */
function keyStream(key: Buffer, nonce: Buffer, message: Buffer): Buffer {
  const output = Buffer.alloc(AUTHENTICATOR_KEY_BYTES + message.length);
  const input = Buffer.concat([Buffer.alloc(AUTHENTICATOR_KEY_BYTES), message]);
  salsa20(hsalsa20(key, nonce.subarray(0, 16)), nonce.subarray(16), input, output);
  return output;
}
