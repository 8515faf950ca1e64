import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageReader, MessageWriter } from './wire-format.ts';

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
        const values: unknown[] = [];
        while (reader.next()) {
          if (reader.field === 3) values.push(reader.big().toString(16));
          else if (reader.field === 4) values.push(Buffer.compare(reader.bytes(), bytes));
        }
        expect(values).toEqual([lease.toString(16), 0]);
      }),
    );
  });

  test('skips fields of every wire type', () => {
    // Field 1 as a 64 bit number, field 2 as a 32 bit one, field 3 as a varint.
    const bytes = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 42]);
    const reader = new MessageReader(bytes);
    let count = 0;
    while (reader.next()) if (reader.field === 3) count = reader.number();
    expect(count).toBe(42);
  });

  test.each([
    ['a cut-off number', [0x08, 0x80]],
    ['a cut-off text', [0x12, 0x05, 1, 2]],
    ['a wire type that is none', [0x0b, 1]],
    ['field number 0', [0x00, 1]],
    ['a length beyond all bounds', [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
  ])('refuses %s', (_, bytes) => {
    const reader = new MessageReader(Buffer.from(bytes));
    expect(() => {
      while (reader.next());
    }).toThrow('malformed message');
  });
});
