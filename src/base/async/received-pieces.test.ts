import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ReceivedPieces } from './received-pieces.ts';

const HIGH_WATER_MARK = 64 * 1024;

function opened() {
  const stream = new Readable({ highWaterMark: HIGH_WATER_MARK, read: () => pieces.read() });
  const pieces: ReceivedPieces = new ReceivedPieces(stream);
  return { stream, pieces };
}

async function read(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}

test('a reader gets everything in its order, whatever the lengths', async () => {
  const { stream, pieces } = opened();
  const sent = Array.from({ length: 500 }, (_, i) => String(i % 10).repeat(i % 7 === 0 ? 5000 : i % 3));
  const received = read(stream);
  for (const [i, text] of sent.entries()) {
    pieces.add(Buffer.from(text));
    if (i % 50 === 0) await setImmediate();
  }
  pieces.end();
  expect(await received).toBe(sent.join(''));
});

test('a piece that the reader waits for is passed on at once', async () => {
  const { stream, pieces } = opened();
  const received: string[] = [];
  stream.on('data', (chunk) => received.push(String(chunk)));
  await setImmediate();
  for (const text of ['a', 'b', 'c']) {
    pieces.add(Buffer.from(text));
    await setImmediate();
  }
  expect(received).toEqual(['a', 'b', 'c']);
});

test('what nobody reads waits in few pieces, and the stream says when it is enough', async () => {
  const { stream, pieces } = opened();
  let added = 0;
  while (pieces.add(Buffer.from('x'))) if (++added % 1000 === 0) await setImmediate();
  expect(pieces.unreadBytes).toBe(HIGH_WATER_MARK);
  let count = 0;
  pieces.end();
  for await (const chunk of stream) count += (chunk as Buffer).length > 0 ? 1 : 0;
  expect(count).toBeLessThan(200);
});

test('a reader that begins late gets what came after it was full', async () => {
  const { stream, pieces } = opened();
  for (let i = 0; i < 3 * HIGH_WATER_MARK; i++) pieces.add(Buffer.from('x'));
  const received = read(stream);
  await setImmediate();
  pieces.add(Buffer.from('the end'));
  pieces.end();
  expect(await received).toBe(`${'x'.repeat(3 * HIGH_WATER_MARK)}the end`);
});
