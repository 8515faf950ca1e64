import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeLease, decodeRange, decodeWatch, encodeLeaseId, encodeRange } from './messages.ts';
import { MessageReader, MessageWriter } from './protobuf.ts';
import { atLeastVersion } from './server-version.ts';

describe('the wire format of protobuf', () => {
  test('brings every safe integer back', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 100_000 }), (value, field) => {
        const reader = new MessageReader(new MessageWriter().presentNumber(field, value).finish());
        expect([reader.next(), reader.field, reader.number(), reader.next()]).toEqual([true, field, value, false]);
      }),
    );
  });

  test('brings bytes and leases back, and skips what is not asked for', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.nat(), (bytes, lease, number) => {
        const message = new MessageWriter().message(1, bytes).presentNumber(2, number).big(3, lease).message(4, bytes).finish();
        const reader = new MessageReader(message);
        const found: unknown[] = [];
        while (reader.next()) {
          if (reader.field === 3) found.push(reader.hex());
          else if (reader.field === 4) found.push(Buffer.compare(reader.bytes(), bytes));
        }
        expect(found).toEqual([lease.toString(16), 0]);
      }),
    );
  });

  test('skips fields of every wire type', () => {
    // Field 1 as a 64 bit number, field 2 as a 32 bit one, field 3 as a varint.
    const bytes = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 42]);
    const reader = new MessageReader(bytes);
    let found = 0;
    while (reader.next()) if (reader.field === 3) found = reader.number();
    expect(found).toBe(42);
  });

  test.each([
    ['a cut-off number', [0x08, 0x80]],
    ['a cut-off text', [0x12, 0x05, 1, 2]],
    ['a wire type that is none', [0x0b, 1]],
  ])('refuses %s', (_, bytes) => {
    const reader = new MessageReader(Buffer.from(bytes));
    expect(() => {
      while (reader.next());
    }).toThrow('malformed message');
  });
});

test('messages are those that etcd speaks', () => {
  // As Go's client encodes them.
  expect(encodeRange({ start: Buffer.from('/a'), end: Buffer.from('/b'), limit: 300, revision: 5, keysOnly: true }).toString('hex')).toBe(
    '0a022f6112022f6218ac0220054001',
  );
  expect(encodeLeaseId('ffffffffffffffff').toString('hex')).toBe('08ffffffffffffffffff01');
  expect(decodeLease(Buffer.from('10ffffffffffffffffff01183c', 'hex'))).toEqual({ id: 'ffffffffffffffff', ttlSeconds: 60 });
  const range = decodeRange(Buffer.from('0a0418072002120c0a042f782f611002180320021801', 'hex'), '/x');
  expect(range).toMatchObject({ revision: 7, more: true, entries: [{ key: '/a', createRevision: 2, modRevision: 3, version: 2 }] });
  expect(decodeWatch(Buffer.from('10ffffffffffffffffff0120012803', 'hex'), '')).toMatchObject({
    canceled: true,
    compactRevision: 3,
    events: [],
  });
});

test.each([
  ['3.4.23', '3.4.0', true],
  ['3.4.9', '3.4.31', false],
  ['3.10.0', '3.5.13', true],
  ['3.5.13-rc.0', '3.5.13', true],
  ['3.3.99', '3.4.0', false],
  ['4.0.0', '3.5.13', true],
])('version %s is at least %s: %s', (version, least, expected) => {
  expect(atLeastVersion(version, least)).toBe(expected);
});
