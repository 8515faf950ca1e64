import { endianness } from 'node:os';

const IS_LITTLE_ENDIAN = endianness() === 'LE';

/** XORs `data` in place with the four bytes of `mask`, starting at byte `offset` of the payload. */
export function applyMask(data: Buffer, mask: Buffer, offset: number): void {
  let at = 0;
  while (at < data.length && ((data.byteOffset + at) & 3) !== 0) {
    data[at] = data[at]! ^ mask[(offset + at) & 3]!;
    at++;
  }
  const words = (data.length - at) >>> 2;
  if (words > 0) {
    const word = wordOf(mask, offset + at);
    const view = new Int32Array(data.buffer, data.byteOffset + at, words);
    for (let i = 0; i < words; i++) view[i] = view[i]! ^ word;
    at += words * 4;
  }
  for (; at < data.length; at++) data[at] = data[at]! ^ mask[(offset + at) & 3]!;
}

/** The mask as this machine reads four bytes of which the first is XORed with byte `offset` of the mask. */
function wordOf(mask: Buffer, offset: number): number {
  let word = 0;
  for (let i = 0; i < 4; i++) word |= mask[(offset + i) & 3]! << (8 * (IS_LITTLE_ENDIAN ? i : 3 - i));
  return word;
}
