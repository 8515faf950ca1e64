/** XORs `data` in place with the four bytes of `mask`, starting at byte `offset` of the payload. */
export function applyMask(data: Buffer, mask: Buffer, offset: number): void {
  let at = 0;
  while (at < data.length && ((data.byteOffset + at) & 3) !== 0) {
    data[at] = data[at]! ^ mask[(offset + at) & 3]!;
    at++;
  }
  const words = (data.length - at) >>> 2;
  if (words > 0) {
    const rotated = Buffer.allocUnsafeSlow(4);
    for (let i = 0; i < 4; i++) rotated[i] = mask[(offset + at + i) & 3]!;
    const word = new Int32Array(rotated.buffer, rotated.byteOffset, 1)[0]!;
    const view = new Int32Array(data.buffer, data.byteOffset + at, words);
    for (let i = 0; i < words; i++) view[i] = view[i]! ^ word;
    at += words * 4;
  }
  for (; at < data.length; at++) data[at] = data[at]! ^ mask[(offset + at) & 3]!;
}
