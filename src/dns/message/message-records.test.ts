import packet, { type Answer } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { cacheSeconds, recordSpans, subtractTtls } from './message-records.ts';

const question = { type: 'A' as const, name: 'a.example', class: 'IN' as const };
const address = (ttl: number): Answer => ({ type: 'A', name: 'a.example', ttl, data: '192.0.2.1' });
const soa: Answer = {
  type: 'SOA',
  name: 'example',
  ttl: 900,
  data: { mname: 'ns.example', rname: 'root.example', serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 17 },
};

function reply(sections: { answers?: Answer[]; authorities?: Answer[] }): Buffer {
  return packet.encode({ type: 'response', id: 1, questions: [question], ...sections });
}

/** The data length of the last record does not match its type. */
function withDataLength(message: Buffer, length: number): Buffer {
  const { dataAt } = recordSpans(message)!.at(-1)!;
  message.writeUInt16BE(length, dataAt - 2);
  return message;
}

describe('how long a reply is cached', () => {
  test('the least TTL of its answers decides', () => {
    expect(cacheSeconds(reply({ answers: [address(40), address(20)], authorities: [soa] }))).toBe(20);
  });

  test('a negative reply has the minimum of its SOA record', () => {
    expect(cacheSeconds(reply({ authorities: [soa] }))).toBe(17);
  });

  test('a reply without records says nothing', () => {
    expect(cacheSeconds(reply({}))).toBeUndefined();
  });

  test('a reply whose record ends beyond the message is not cached', () => {
    expect(cacheSeconds(withDataLength(reply({ answers: [address(40)] }), 300))).toBeUndefined();
  });
});

test('TTLs are lowered by the age of a reply, not below zero', () => {
  const message = reply({ answers: [address(40), address(5)] });
  subtractTtls(message, 10);
  expect(packet.decode(message).answers).toMatchObject([{ ttl: 30 }, { ttl: 0 }]);
});

test('records that are shorter than their type leave the rest of the message where it is', () => {
  // The second record would start inside the first one's data, with a label that extends beyond the end.
  const message = withDataLength(reply({ answers: [address(40)] }), 2);
  message.writeUInt16BE(2, 6);
  expect(recordSpans(message)).toBeUndefined();
});

test('hostile replies, mutated with seed 11, are read to their end or found malformed', () => {
  const random = seededRandom(11);
  const good = reply({ answers: [address(40), address(20)], authorities: [soa] });
  let malformed = 0;
  const replies = 200_000;
  for (let i = 0; i < replies; i++) {
    const message = Buffer.from(good.subarray(0, random.int(4) === 0 ? 12 + random.int(good.length - 12) : good.length));
    for (let n = random.int(4); n >= 0; n--) message[4 + random.int(message.length - 4)] = random.int(256);
    if (recordSpans(message) === undefined) malformed++;
    subtractTtls(message, 5);
  }
  expect(malformed).toBeGreaterThan(replies / 10);
});
