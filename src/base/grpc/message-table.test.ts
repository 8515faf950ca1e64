import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GrpcError } from './grpc-error.ts';
import { enumeration, field, message, optional, repeated, stringMap, wrapped } from './message-table.ts';
import { MessageWriter } from './wire-format.ts';

const Color = enumeration('RED', 'GREEN', 'BLUE');
const Inner = message({ name: field(1, 'string'), count: field(2, 'int64') });
const Everything = message({
  text: field(1, 'string'),
  flag: field(2, 'bool'),
  small: field(3, 'int32'),
  large: field(4, 'exact64'),
  share: field(5, 'double'),
  blob: field(6, 'bytes'),
  color: field(7, Color),
  inner: field(8, Inner),
  names: repeated(9, 'string'),
  groups: repeated(10, 'int64'),
  inners: repeated(11, Inner),
  labels: stringMap(12),
  user: wrapped(13, 'int64'),
  limit: optional(14, 'int64'),
  unsigned: field(15, 'uint64'),
  colors: repeated(16, Color),
});

const anyInner = fc.record({ name: fc.string(), count: fc.maxSafeInteger() });
const anyMessage = fc.record({
  text: fc.string(),
  flag: fc.boolean(),
  small: fc.integer(),
  large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  share: fc.double({ noNaN: true }).map((value) => value + 0),
  blob: fc.uint8Array(),
  color: fc.constantFrom('RED', 'GREEN', 'BLUE'),
  inner: fc.option(anyInner, { nil: undefined }),
  names: fc.array(fc.string()),
  groups: fc.array(fc.maxSafeInteger()),
  inners: fc.array(anyInner),
  labels: fc.dictionary(fc.string(), fc.string()),
  user: fc.option(fc.maxSafeInteger(), { nil: undefined }),
  limit: fc.option(fc.maxSafeInteger(), { nil: undefined }),
  unsigned: fc.maxSafeNat(),
  colors: fc.array(fc.constantFrom('RED', 'GREEN', 'BLUE')),
});

describe('a message by its table', () => {
  test('comes back as it was encoded', () => {
    fc.assert(
      fc.property(anyMessage, (value) => {
        const decoded = Everything.decode(Everything.encode(value as never));
        expect({ ...decoded, blob: Uint8Array.from(decoded.blob), labels: Object.entries(decoded.labels).sort() }).toEqual({
          ...value,
          share: value.share === 0 ? 0 : value.share,
          labels: Object.entries(value.labels).sort(),
        });
      }),
    );
  });

  test('reads absent fields as their defaults', () => {
    expect(Everything.decode(Buffer.alloc(0))).toEqual({
      text: '',
      flag: false,
      small: 0,
      large: 0n,
      share: 0,
      blob: new Uint8Array(0),
      color: 'RED',
      inner: undefined,
      names: [],
      groups: [],
      inners: [],
      labels: {},
      user: undefined,
      limit: undefined,
      unsigned: 0,
      colors: [],
    });
  });

  test('tells a present 0 of a wrapped or optional field from an absent one', () => {
    expect(Everything.decode(Everything.encode({ user: 0, limit: 0 }))).toMatchObject({ user: 0, limit: 0 });
  });

  test('keeps a map key __proto__ as any other', () => {
    const labels = Everything.decode(Everything.encode({ labels: JSON.parse('{"__proto__":"x"}') })).labels;
    expect(Object.keys(labels)).toEqual(['__proto__']);
  });

  test('reads numbers of a repeated field one by one as well as packed', () => {
    const bytes = new MessageWriter().presentNumber(10, 1).presentNumber(10, 2).packed(10, [3, 4]).finish();
    expect(Everything.decode(bytes).groups).toEqual([1, 2, 3, 4]);
  });

  test('skips fields that the table does not have', () => {
    const bytes = new MessageWriter().text(99, 'later').text(1, 'now').finish();
    expect(Everything.decode(bytes).text).toBe('now');
  });

  test('arbitrary bytes are a message or a GrpcError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          Everything.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(GrpcError);
        }
      }),
    );
  });

  test.each([
    ['a text where a number is expected', new MessageWriter().text(3, 'x').finish()],
    ['a number where a text is expected', new MessageWriter().presentNumber(1, 5).finish()],
    ['an unknown value of an enumeration', new MessageWriter().presentNumber(7, 9).finish()],
    ['a message cut off', Everything.encode({ text: 'hello' }).subarray(0, 4)],
  ])('rejects %s', (_, bytes) => {
    expect(() => Everything.decode(bytes)).toThrow(GrpcError);
  });

  test('reads a value of later versions as unknown, where the enumeration has a name for that', () => {
    const Later = message({ state: field(1, enumeration('UNKNOWN', 'ON')) });
    expect(Later.decode(new MessageWriter().presentNumber(1, 9).finish())).toEqual({ state: 'UNKNOWN' });
  });

  test('rejects a name that the enumeration does not have', () => {
    expect(() => Everything.encode({ color: 'PINK' as never })).toThrow('"PINK" is none of RED, GREEN, BLUE');
  });
});
