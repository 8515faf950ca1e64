import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { openSecretbox, SECRETBOX_NONCE_BYTES, SECRETBOX_OVERHEAD_BYTES, sealSecretbox } from '#base';
import type { DecryptedValue, Transformer } from './transformer.ts';

const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
const CBC_BLOCK_BYTES = 16;
/** The length of seeds, their info and the derived keys. */
export const SEED_BYTES = 32;

const TOO_SHORT = 'the stored data was shorter than the required size';

/** AES-GCM: random nonce, ciphertext, tag; the store key is additional authenticated data. */
export function aesGcm(key: Buffer): Transformer {
  return {
    encrypt: (plain, place) => sealGcm(key, plain, place),
    decrypt: (stored, place) => fresh(openGcm(key, stored, place)),
  };
}

function sealGcm(key: Buffer, plain: Buffer, place: string): Buffer {
  const nonce = randomBytes(GCM_NONCE_BYTES);
  const cipher = createCipheriv(`aes-${sizeOf(key)}-gcm`, key, nonce);
  cipher.setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function openGcm(key: Buffer, stored: Buffer, place: string): Buffer {
  if (stored.length < GCM_NONCE_BYTES + GCM_TAG_BYTES) throw new Error(TOO_SHORT);
  const decipher = createDecipheriv(`aes-${sizeOf(key)}-gcm`, key, stored.subarray(0, GCM_NONCE_BYTES), { authTagLength: GCM_TAG_BYTES });
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(stored.subarray(-GCM_TAG_BYTES));
  const plain = decipher.update(stored.subarray(GCM_NONCE_BYTES, -GCM_TAG_BYTES));
  try {
    decipher.final();
  } catch (error) {
    throw new Error('cipher: message authentication failed', { cause: error });
  }
  return plain;
}

function sizeOf(key: Buffer): 128 | 192 | 256 {
  return (key.length * 8) as 128 | 192 | 256;
}

/** AES-CBC with PKCS #7 padding, after a random IV. Not authenticated. */
export function aesCbc(key: Buffer): Transformer {
  return {
    encrypt(plain) {
      const vector = randomBytes(CBC_BLOCK_BYTES);
      const cipher = createCipheriv(`aes-${sizeOf(key)}-cbc`, key, vector);
      return Buffer.concat([vector, cipher.update(plain), cipher.final()]);
    },
    decrypt(stored) {
      if (stored.length < 2 * CBC_BLOCK_BYTES) throw new Error(TOO_SHORT);
      if (stored.length % CBC_BLOCK_BYTES !== 0) throw new Error('the stored data is not a multiple of the block size');
      const decipher = createDecipheriv(`aes-${sizeOf(key)}-cbc`, key, stored.subarray(0, CBC_BLOCK_BYTES));
      try {
        return fresh(Buffer.concat([decipher.update(stored.subarray(CBC_BLOCK_BYTES)), decipher.final()]));
      } catch (error) {
        throw new Error('invalid padding on input', { cause: error });
      }
    },
  };
}

/** XSalsa20-Poly1305 after a random nonce. */
export function secretbox(key: Buffer): Transformer {
  return {
    encrypt(plain) {
      const nonce = randomBytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([nonce, sealSecretbox(key, nonce, plain)]);
    },
    decrypt(stored) {
      if (stored.length < SECRETBOX_NONCE_BYTES + SECRETBOX_OVERHEAD_BYTES) throw new Error(TOO_SHORT);
      const plain = openSecretbox(key, stored.subarray(0, SECRETBOX_NONCE_BYTES), stored.subarray(SECRETBOX_NONCE_BYTES));
      if (plain === undefined) throw new Error('the stored data does not open with this secretbox key');
      return fresh(plain);
    },
  };
}

/** AES-GCM with a key per value: HKDF expands the seed with 32 random bytes, which are stored in front. */
export function extendedNonceGcm(seed: Buffer): Transformer {
  if (seed.length < SEED_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  return {
    encrypt(plain, place) {
      const info = randomBytes(SEED_BYTES);
      return Buffer.concat([info, sealGcm(expand(seed, info), plain, place)]);
    },
    decrypt(stored, place) {
      if (stored.length < SEED_BYTES) throw new Error(TOO_SHORT);
      return fresh(openGcm(expand(seed, stored.subarray(0, SEED_BYTES)), stored.subarray(SEED_BYTES), place));
    },
  };
}

/** The first block of HKDF-Expand with SHA-256: one key. */
function expand(seed: Buffer, info: Buffer): Buffer {
  return createHmac('sha256', seed)
    .update(info)
    .update(Buffer.from([1]))
    .digest();
}

function fresh(bytes: Buffer): DecryptedValue {
  return { bytes, isStale: false };
}
