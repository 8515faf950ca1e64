import { randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { duplexPair } from '#base';
import { copyStream } from './copy-stream.ts';

/** A destination whose writes wait until the test lets them through. */
function slowWritable() {
  const chunks: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const to = new Writable({
    highWaterMark: 1024,
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk);
      waiting.push(done);
    },
  }).on('error', () => {});
  return { to, chunks, next: () => waiting.shift()?.() };
}

const quiet = () => new PassThrough().on('error', () => {});

describe('copying a stream', () => {
  it('carries everything to a slow destination and ends it', async () => {
    const { to, chunks, next } = slowWritable();
    const data = randomBytes(100_000);
    const parts = Array.from({ length: 100 }, (_, i) => data.subarray(i * 1000, (i + 1) * 1000));
    let isOver = false;
    const copied = copyStream(Readable.from(parts), to).then(() => {
      isOver = true;
    });
    while (!isOver) {
      expect(to.writableLength).toBeLessThanOrEqual(2048);
      next();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copied;
    expect(Buffer.concat(chunks).equals(data)).toBe(true);
    expect(to.writableFinished).toBe(true);
  });

  it('leaves the other direction of an ended source open', async () => {
    const { near, far } = duplexPair();
    const { to, next } = slowWritable();
    near.end('all');
    const copied = copyStream(far, to);
    while (!to.writableFinished) {
      next();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copied;
    to.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(far.destroyed).toBe(false);
    far.destroy();
  });

  it.each([
    ['destroyed before', (from: PassThrough) => void from.destroy(), 'before'],
    ['destroyed later', (from: PassThrough) => void from.destroy(), 'later'],
    ['failed', (from: PassThrough) => void from.destroy(new Error('broken')), 'later'],
  ])('destroys the destination of a source that is %s', async (_, end, when) => {
    const from = quiet();
    const to = quiet();
    if (when === 'before') end(from);
    const copied = copyStream(from, to);
    if (when === 'later') end(from);
    await copied;
    expect(to.destroyed).toBe(true);
    expect(to.writableFinished).toBe(false);
  });

  it.each(['before', 'later'])('destroys the source of a destination that is destroyed %s', async (when) => {
    const from = quiet();
    const to = quiet();
    if (when === 'before') to.destroy();
    const copied = copyStream(from, to);
    from.write('lost');
    if (when === 'later') to.destroy();
    await copied;
    expect(from.destroyed).toBe(true);
  });

  it('ends the destination of a source that has ended before', async () => {
    const from = quiet();
    from.end();
    from.resume();
    await new Promise((resolve) => from.once('end', resolve));
    const to = quiet();
    await copyStream(from, to);
    expect(to.writableFinished).toBe(true);
  });
});
