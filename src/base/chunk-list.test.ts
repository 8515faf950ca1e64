import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkList } from './chunk-list.ts';

/** Bytes of memory behind all pieces. */
function heldBytes(list: ChunkList): number {
  const buffers = new Set(list.pieces().map(({ buffer }) => buffer));
  return [...buffers].reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

test('what is put together is what was pushed', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(10), fc.nat(10_000))), fc.boolean(), (lengths, readsBetween) => {
      const list = new ChunkList();
      const chunks = lengths.map((length, i) => Buffer.alloc(length, i));
      for (const chunk of chunks) {
        list.push(chunk);
        if (readsBetween) list.pieces();
      }
      expect(list.whole().equals(Buffer.concat(chunks))).toBe(true);
      expect(list.bytes).toBe(Buffer.concat(chunks).length);
    }),
  );
});

test('one chunk is not copied', () => {
  const list = new ChunkList();
  const chunk = Buffer.from('abc');
  list.push(chunk);
  expect(list.whole()).toBe(chunk);
});

test('small parts of large reads do not keep these in memory', () => {
  const list = new ChunkList();
  for (let i = 0; i < 1000; i++) list.push(Buffer.allocUnsafeSlow(64 * 1024).subarray(0, 10));
  expect(heldBytes(list)).toBeLessThan(100_000);
  expect(list.pieces().length).toBeLessThan(10);
});

test('chunks of a single byte among long ones take little', () => {
  const list = new ChunkList();
  for (let i = 0; i < 100; i++) {
    list.push(Buffer.allocUnsafeSlow(4096));
    list.push(Buffer.allocUnsafeSlow(64 * 1024).subarray(0, 1));
  }
  expect(heldBytes(list)).toBeLessThan(100 * 4096 + 100_000);
});
