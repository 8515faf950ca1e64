const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const BLOCK_BYTES = 64;

/** Twenty rounds over sixteen words, in place. */
function rounds(x: Int32Array): void {
  for (let i = 0; i < 10; i++) {
    for (const [a, b, c, d] of COLUMNS_AND_ROWS) {
      x[b] = x[b]! ^ rotate(x[a]! + x[d]!, 7);
      x[c] = x[c]! ^ rotate(x[b]! + x[a]!, 9);
      x[d] = x[d]! ^ rotate(x[c]! + x[b]!, 13);
      x[a] = x[a]! ^ rotate(x[d]! + x[c]!, 18);
    }
  }
}

function rotate(sum: number, bits: number): number {
  const word = sum | 0;
  return (word << bits) | (word >>> (32 - bits));
}

const COLUMNS_AND_ROWS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

/** The words of a key, a constant, and sixteen bytes of nonce and counter, where Salsa20 has them. */
function initialState(key: Buffer, input: Buffer): Int32Array {
  const x = new Int32Array(16);
  for (let i = 0; i < 4; i++) {
    x[i * 5] = SIGMA[i]!;
    x[1 + i] = key.readInt32LE(i * 4);
    x[11 + i] = key.readInt32LE(16 + i * 4);
    x[6 + i] = input.readInt32LE(i * 4);
  }
  return x;
}

/** HSalsa20: derives the key for an extended nonce. */
export function hsalsa20(key: Buffer, nonce: Buffer): Buffer {
  const x = initialState(key, nonce);
  rounds(x);
  const derived = Buffer.alloc(32);
  for (const [i, word] of [0, 5, 10, 15, 6, 7, 8, 9].entries()) derived.writeInt32LE(x[word]!, i * 4);
  return derived;
}

/** Writes `data`, combined with the key stream of an eight-byte nonce, to `output`. */
export function salsa20(key: Buffer, nonce: Buffer, data: Buffer, output: Buffer): void {
  const state = initialState(key, Buffer.concat([nonce, Buffer.alloc(8)]));
  const x = new Int32Array(16);
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < data.length; at += BLOCK_BYTES) {
    x.set(state);
    rounds(x);
    for (let i = 0; i < 16; i++) block.writeInt32LE((x[i]! + state[i]!) | 0, i * 4);
    const end = Math.min(data.length - at, BLOCK_BYTES);
    for (let i = 0; i < end; i++) output[at + i] = data[at + i]! ^ block[i]!;
    // Thirty-two bits count 256 GiB, far more than any value has.
    state[8] = state[8]! + 1;
  }
}
