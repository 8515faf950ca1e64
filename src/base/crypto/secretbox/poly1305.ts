const LIMBS = 10;
/** 130-bit numbers as ten 13-bit limbs, so that sums of their products are exact. */
const LIMB_BITS = 13;
const MASK = 0x1fff;
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

/** The authenticator of a message under a one-time 32-byte key. */
export function poly1305(key: Buffer, message: Buffer): Buffer {
  const r = limbsOf(littleEndian(key.subarray(0, 16)) & CLAMP);
  const h = new Float64Array(LIMBS);
  for (let at = 0; at < message.length; at += 16) {
    addBlock(h, message.subarray(at, at + 16));
    multiply(h, r);
  }
  const sum = (reduced(h) + littleEndian(key.subarray(16, 32))) & ((1n << 128n) - 1n);
  return bytesOf(sum);
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function limbsOf(value: bigint): Float64Array {
  return Float64Array.from({ length: LIMBS }, (_, i) => Number((value >> BigInt(i * LIMB_BITS)) & BigInt(MASK)));
}

/** With the bit that marks its end. */
function addBlock(h: Float64Array, block: Buffer): void {
  let bits = 0;
  let buffer = 0;
  let limb = 0;
  for (let i = 0; i <= block.length; i++) {
    buffer |= (i < block.length ? block[i]! : 1) << bits;
    bits += 8;
    if (bits < LIMB_BITS) continue;
    h[limb] = h[limb]! + (buffer & MASK);
    limb++;
    buffer >>>= LIMB_BITS;
    bits -= LIMB_BITS;
  }
  if (limb < LIMBS) h[limb] = h[limb]! + buffer;
}

/** h = h · r modulo 2^130 − 5: overflow is multiplied by five and added. */
function multiply(h: Float64Array, r: Float64Array): void {
  const product = new Float64Array(LIMBS);
  for (let i = 0; i < LIMBS; i++) {
    const limb = h[i]!;
    for (let j = 0; j < LIMBS; j++) {
      const at = i + j;
      if (at < LIMBS) product[at] = product[at]! + limb * r[j]!;
      else product[at - LIMBS] = product[at - LIMBS]! + 5 * limb * r[j]!;
    }
  }
  let carry = 0;
  for (let i = 0; i < LIMBS; i++) {
    const value = product[i]! + carry;
    carry = Math.floor(value / (MASK + 1));
    h[i] = value - carry * (MASK + 1);
  }
  h[0] = h[0]! + 5 * carry;
}

function reduced(h: Float64Array): bigint {
  let value = 0n;
  for (let i = LIMBS - 1; i >= 0; i--) value = (value << BigInt(LIMB_BITS)) + BigInt(h[i]!);
  return value % ((1n << 130n) - 5n);
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex').reverse();
}
