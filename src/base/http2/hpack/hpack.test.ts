import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BufferPool, OutputBuffer } from '../output-buffer.ts';
import { HpackDecoder, hpackTables } from './hpack-decoder.ts';
import { encoderTables, HpackEncoder } from './hpack-encoder.ts';
import { HuffmanCode } from './huffman-code.ts';

const huffman = new HuffmanCode();
const tables = hpackTables(huffman);

function decoder(maxListBytes = 65_536) {
  const hpack = new HpackDecoder(tables, maxListBytes);
  return (hex: string) => {
    const block = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    return hpack.decode(block, 0, block.length)?.map(({ name, value }) => `${name}: ${value}`);
  };
}

function decodeHuffman(hex: string): string {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return huffman.decode(bytes, 0, bytes.length);
}

describe('Huffman-coded strings', () => {
  // RFC 7541, appendix C.
  it.each([
    ['f1e3 c2e5 f23a 6ba0 ab90 f4ff', 'www.example.com'],
    ['a8eb 1064 9cbf', 'no-cache'],
    ['25a8 49e9 5ba9 7d7f', 'custom-key'],
    ['d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    [
      '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ],
  ])('%s are %s', (hex, text) => expect(decodeHuffman(hex)).toBe(text));

  it.each([
    ['the end of a string within it', 'ff ff ff ff'],
    ['padding of eight bits', '1f ff'],
    ['padding of zeros', '18'],
  ])('%s is invalid', (_what, hex) => expect(() => decodeHuffman(hex)).toThrow('Huffman'));
});

test('the header table matches the examples of RFC 7541', () => {
  const decode = decoder();
  const common = [':method: GET', ':scheme: http'];
  expect(decode('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff')).toEqual([...common, ':path: /', ':authority: www.example.com']);
  expect(decode('8286 84be 5886 a8eb 1064 9cbf')).toEqual([
    ...common,
    ':path: /',
    ':authority: www.example.com',
    'cache-control: no-cache',
  ]);
  expect(decode('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf')).toEqual([
    ':method: GET',
    ':scheme: https',
    ':path: /index.html',
    ':authority: www.example.com',
    'custom-key: custom-value',
  ]);
});

describe('a header block', () => {
  it.each([
    ['refers to index 0', '80'],
    ['refers to an entry that is not there', 'be'],
    ['ends within a string', '40 05 61'],
    ['ends within an integer', 'ff 80'],
    ['has an integer without end', 'ff 80 80 80 80 80 80 80 80 01'],
    ['changes the size of the table after a field', '82 20'],
    ['wants a larger table than we offer', '3f e2 1f'],
  ])('that %s is a violation', (_what, hex) => expect(() => decoder()(hex)).toThrow());

  it('may shrink the table, which drops its entries', () => {
    const decode = decoder();
    decode('40 01 61 01 62');
    expect(decode('be')).toEqual(['a: b']);
    expect(() => decode('20 be')).toThrow('beyond the table');
  });

  it('with more fields than the limit is dropped, but the table follows it', () => {
    const decode = decoder(100);
    expect(decode('40 01 61 01 62 be be be')).toBeUndefined();
    expect(decode('be')).toEqual(['a: b']);
  });
});

const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 300 });
const name = fc.constantFrom(':status', 'content-type', 'cache-control', 'x-other', 'date', 'x-recurring', 'etag');

test('what the encoder writes is what the decoder reads, whatever the limits of the table', () => {
  const block = fc.record({
    table: fc.option(fc.constantFrom(0, 60, 200, 4096, 10_000)),
    fields: fc.array(fc.tuple(name, text), { maxLength: 10 }),
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 20 }), (blocks) => {
      const encoder = new HpackEncoder(encoderTables(['content-type', 'date', 'x-recurring', ':status']));
      const hpack = new HpackDecoder(tables, 1 << 20);
      for (const { table, fields } of blocks) {
        const out = new OutputBuffer(new BufferPool());
        if (table !== null) {
          encoder.limitTable(0);
          encoder.limitTable(table);
        }
        encoder.begin(out);
        for (const [name, value] of fields) encoder.field(out, name, value);
        expect(hpack.decode(out.bytes, 0, out.length)?.map(({ name, value }) => [name, value])).toEqual(fields);
      }
    }),
  );
});

test('a field that recurs takes one byte, a field of the static table always', () => {
  const encoder = new HpackEncoder(encoderTables(['content-type']));
  const lengthOf = (name: string, value: string) => {
    const out = new OutputBuffer(new BufferPool());
    encoder.field(out, name, value);
    return out.length;
  };
  expect(lengthOf(':status', '200')).toBe(1);
  expect([lengthOf('content-type', 'a/b'), lengthOf('content-type', 'a/b')]).toEqual([5, 1]);
  expect([lengthOf('etag', 'x'), lengthOf('etag', 'x')]).toEqual([4, 4]);
});

test('random bytes decode or throw a protocol error', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), (blocks) => {
      const hpack = new HpackDecoder(tables, 4096);
      try {
        for (const bytes of blocks) hpack.decode(Buffer.from(bytes), 0, bytes.length);
      } catch (error) {
        expect((error as Error).name).toBe('Http2ConnectionError');
      }
    }),
    { numRuns: 1000 },
  );
});
