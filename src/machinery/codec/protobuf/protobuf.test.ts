import { describe, expect, test } from 'vitest';
import type { Field, ObjectSchema, Presence, Schema } from '../../schema.ts';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  encodeWatchFrame,
  isEnvelope,
  ListEncoding,
  ProtobufError,
  WatchFrameEncoding,
  WatchFrameReader,
} from './index.ts';

function object(name: string, fields: Record<string, { number: number; schema: Schema; presence?: Presence }>): ObjectSchema {
  const built = Object.entries(fields).map(
    ([key, { number, schema, presence = 'nonzero' }]): Field => ({
      name: key,
      schema,
      description: '',
      presence,
      required: false,
      patchStrategies: [],
      number,
    }),
  );
  const fieldsByName = new Map(built.map((field) => [field.name, field]));
  return { type: 'object', name, description: '', fields: built, fieldsByName, atomic: false, preserveUnknown: false };
}

const Port = object('test.v1.Port', { port: { number: 1, schema: { type: 'int32' }, presence: 'always' } });
const Thing = object('test.v1.Thing', {
  name: { number: 1, schema: { type: 'string' } },
  count: { number: 2, schema: { type: 'int64' }, presence: 'set' },
  port: { number: 3, schema: Port, presence: 'always' },
  ids: { number: 4, schema: { type: 'list', items: { type: 'int64' }, listType: 'atomic', keys: [] } },
  labels: { number: 5, schema: { type: 'map', values: { type: 'string' }, atomic: false } },
  when: { number: 6, schema: { type: 'time' }, presence: 'set' },
});

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const decode = (hex: string) => decodeProtobuf(Thing, bytes(hex));

describe('the wire format', () => {
  test.each([
    ['a string', '0a 01 61', { name: 'a', port: { port: 0 } }],
    ['a large varint', '10 ff ff ff ff ff ff ff ff 7f', { count: 2n ** 63n - 1n, port: { port: 0 } }],
    ['a negative number', '10 ff ff ff ff ff ff ff ff ff 01', { count: -1, port: { port: 0 } }],
    ['a five-byte varint', '10 80 80 80 80 08', { count: 2 ** 31, port: { port: 0 } }],
    ['a six-byte varint', '10 80 80 80 80 80 01', { count: 2 ** 35, port: { port: 0 } }],
    ['a padded varint', '10 81 80 80 00', { count: 1, port: { port: 0 } }],
    ['an unpacked list', '20 01 20 02', { ids: [1, 2], port: { port: 0 } }],
    ['a packed list', '22 02 01 02', { ids: [1, 2], port: { port: 0 } }],
    ['a list that another field interrupts', '20 01 0a 01 61 20 02', { name: 'a', ids: [1, 2], port: { port: 0 } }],
    ['a map entry without a value', '2a 03 0a 01 6b', { labels: { k: '' }, port: { port: 0 } }],
    [
      'a map key like __proto__',
      '2a 0e 0a 09 5f 5f 70 72 6f 74 6f 5f 5f 12 01 78',
      { labels: JSON.parse('{"__proto__":"x"}'), port: { port: 0 } },
    ],
    ['two occurrences of a message, which merge', '1a 02 08 05 1a 00', { port: { port: 5 } }],
    ['a zero that takes back a value', '0a 01 61 0a 00', { port: { port: 0 } }],
    ['an empty time', '32 00', { port: { port: 0 } }],
    [
      'unknown fields of every wire type',
      '78 01 79 00 00 00 00 00 00 00 00 7a 01 61 7d 00 00 00 00 7b 78 01 7c 0a 01 61',
      { name: 'a', port: { port: 0 } },
    ],
  ])('reads %s', (_, hex, expected) => {
    expect(decode(hex)).toEqual(expected);
  });

  test.each([
    ['a string that ends early', '0a 05 61', 'unexpected EOF'],
    ['a varint that ends early', '10 80', 'unexpected EOF'],
    ['a varint without end', `10 ${'ff '.repeat(11)}`, 'proto: integer overflow'],
    ['the wrong wire type', '08 01', 'proto: wrong wireType = 0 for field Name'],
    ['field number zero', '02 00', 'proto: Thing: illegal tag 0 (wire type 2)'],
    ['a reserved wire type', '7e 01', 'proto: illegal wireType 6'],
    ['a stray end of group', '7c', 'proto: Thing: illegal tag 15 (wire type 124)'],
    ['a message whose parts reach beyond it', '1a 01 08 05', 'unexpected EOF'],
    ['a group that does not end', '7b 78 01', 'unexpected EOF'],
    ['a time beyond the calendar', '32 0a 08 ff ff ff ff ff ff ff ff 7f', /^proto: Timestamp: .* out of range$/],
  ])('refuses %s', (_, hex, message) => {
    expect(() => decode(hex)).toThrow(ProtobufError);
    expect(() => decode(hex)).toThrow(message);
  });

  test('writes what it reads', () => {
    const value = {
      name: 'ü'.repeat(100),
      count: -5,
      port: { port: 8080 },
      ids: [1, 2n ** 60n],
      labels: { a: '' },
      when: '2026-01-02T03:04:05Z',
    };
    expect(decodeProtobuf(Thing, encodeProtobuf(Thing, value))).toEqual(value);
  });

  test('reads strings of large inputs, of any alphabet', () => {
    const value = { name: 'x'.repeat(100_000), port: { port: 1 }, labels: { ключ: '値', a: 'b' } };
    expect(decodeProtobuf(Thing, encodeProtobuf(Thing, value))).toEqual(value);
  });
});

describe('the envelope', () => {
  test('carries the kind and the message', () => {
    const wrapped = encodeEnvelope({ apiVersion: 'test/v1', kind: 'Thing' }, bytes('0a0161'));
    expect(wrapped.subarray(0, 4)).toEqual(bytes('6b387300'));
    expect(decodeEnvelope(wrapped)).toEqual({ apiVersion: 'test/v1', kind: 'Thing', message: bytes('0a0161') });
  });

  test('wraps a list around messages that are encoded already', () => {
    const List = object('test.v1.ThingList', {
      metadata: { number: 1, schema: object('test.v1.Meta', { version: { number: 2, schema: { type: 'string' } } }), presence: 'always' },
      items: { number: 2, schema: { type: 'list', items: Thing, listType: 'atomic', keys: [] }, presence: 'always' },
    });
    const items = Array.from({ length: 300 }, (_, i) => ({ name: `thing-${i}`, port: { port: i } }));
    const encoding = new ListEncoding({ apiVersion: 'test/v1', kind: 'ThingList' }, bytes('120135'));
    const messages = items.map((item) => encodeProtobuf(Thing, item));
    const itemBytes = messages.reduce((sum, { length }) => sum + encoding.itemSize(length), 0);
    const written = Buffer.alloc(itemBytes);
    let end = 0;
    for (const message of messages) end = encoding.writeItem(written, end, message);
    const list = Buffer.concat([encoding.headOf(itemBytes), written, encoding.tail]);
    expect(end).toBe(itemBytes);
    expect(decodeProtobuf(List, decodeEnvelope(list).message)).toEqual({ metadata: { version: '5' }, items });
  });

  test('is told from other bytes', () => {
    expect(isEnvelope(Buffer.from('{"kind":"Pod"}'))).toBe(false);
    expect(() => decodeEnvelope(Buffer.from('{}'))).toThrow('does not appear to be a protobuf message');
    expect(() => decodeEnvelope(bytes('6b387300 1a 04 677a6970'))).toThrow('content encoding "gzip" is not supported');
  });
});

describe('a watch stream', () => {
  const envelope = encodeEnvelope({ apiVersion: 'v1', kind: 'Thing' }, encodeProtobuf(Thing, { name: 'x'.repeat(200) }));
  const stream = Buffer.concat([encodeWatchFrame('ADDED', envelope), encodeWatchFrame('DELETED', envelope)]);

  test.each([1, 3, 7, 250, 100_000])('is cut into its events when it comes in pieces of %i bytes', (size) => {
    const reader = new WatchFrameReader();
    const frames = [];
    for (let at = 0; at < stream.length; at += size) frames.push(...reader.push(stream.subarray(at, at + size)));
    expect(frames.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    for (const { object } of frames) expect(decodeEnvelope(object).message).toEqual(decodeEnvelope(envelope).message);
  });

  test.each([0, 1, 100, 127, 128, 16_300, 20_000, 3_000_000])('is written from a message of %i bytes as from its envelope', (length) => {
    const kind = { apiVersion: 'v1', kind: 'Thing' };
    const message = Buffer.alloc(length, 7);
    const encoding = new WatchFrameEncoding('ADDED', kind);
    const written = Buffer.alloc(encoding.sizeOf(length));
    expect(encoding.writeTo(written, 0, message)).toBe(written.length);
    expect(written.equals(encodeWatchFrame('ADDED', encodeEnvelope(kind, message)))).toBe(true);
  });

  test('has frames of bearable size', () => {
    expect(() => new WatchFrameReader().push(bytes('ffffffff'))).toThrow('too large');
  });
});
