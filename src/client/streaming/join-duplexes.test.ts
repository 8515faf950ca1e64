import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { duplexPair } from '#base';
import { joinDuplexes } from './join-duplexes.ts';

/** Two pairs whose inner ends are joined. */
function relay() {
  const [left, right] = [duplexPair(), duplexPair()];
  return { client: left.near, server: right.near, done: joinDuplexes(left.far, right.far) };
}

/** Everything that arrives until the sender ends; the other direction stays open, which iterating over the stream would close. */
async function received(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return Buffer.concat(chunks);
}

describe('joined duplexes', () => {
  it('carry megabytes both ways unchanged, and end each way separately', async () => {
    const { client, server, done } = relay();
    const [request, response] = [randomBytes(3 << 20), randomBytes(2 << 20)];
    client.end(request);
    expect((await received(server)).equals(request)).toBe(true);
    server.end(response);
    expect((await received(client)).equals(response)).toBe(true);
    await done;
  });

  it('pause a fast sender while the receiver takes nothing', async () => {
    const { near, far } = duplexPair();
    const stuck = new Duplex({ read: () => {}, write: () => {} });
    const done = joinDuplexes(far, stuck);
    let sent = 0;
    const chunk = Buffer.alloc(16 * 1024);
    for (let turn = 0; turn < 1000; turn++) {
      if (near.writableNeedDrain) break;
      near.write(chunk);
      sent += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1 << 20);
    expect(stuck.writableLength).toBeLessThanOrEqual(300 * 1024);
    near.destroy();
    stuck.destroy();
    await done;
  });

  it('do not stall before a receiver with a larger buffer than theirs', async () => {
    const { near, far } = duplexPair();
    let length = 0;
    const slow = new Duplex({
      highWaterMark: 1 << 20,
      read: () => {},
      write: (chunk: Buffer, _, done) => {
        length += chunk.length;
        setImmediate(done);
      },
    });
    const finished = once(slow, 'finish');
    const done = joinDuplexes(far, slow);
    for (let i = 0; i < 48; i++) near.write(Buffer.alloc(64 * 1024));
    near.end();
    await finished;
    expect(length).toBe(3 << 20);
    slow.push(null);
    near.resume();
    await done;
  });

  it('deliver what was sent before its sender was destroyed', async () => {
    const { client, server, done } = relay();
    client.write('last words', () => client.destroy());
    expect(await text(server)).toBe('last words');
    await done;
    expect(server.destroyed).toBe(true);
  });
});
