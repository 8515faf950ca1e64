import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock } from '#base';
import type { ContainerStatus } from '../cri/runtime.ts';
import type { PodContainer } from '../pods/pod-state.ts';
import { parseLogLine } from './cri-log-line.ts';
import { criLogs } from './cri-logs.ts';

let directory: string;
let state: ContainerStatus['state'];

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'cri-logs-'));
  state = 'running';
});
afterEach(() => rm(directory, { recursive: true }));

const current = () => path.join(directory, '0.log');
const logs = () => criLogs({ clock: realClock, runtime: { containerStatus: async () => ({ state }) as ContainerStatus } });
const container = () => ({ id: 'c', logPath: current() }) as PodContainer;
const line = (second: number, content: string, tag = 'F') =>
  `2026-01-01T00:00:${String(second).padStart(2, '0')}.123456789Z stdout ${tag} ${content}\n`;

async function read(options: Parameters<ReturnType<typeof criLogs>['read']>[1] = {}): Promise<string> {
  let text = '';
  for await (const { content } of logs().read(container(), options)) text += content.toString();
  return text;
}

describe('a line of a log', () => {
  it('has a time, a stream and content', () => {
    const entry = parseLogLine(Buffer.from('2026-01-01T00:00:00.123456789Z stderr F a b'))!;
    expect({ ...entry, content: entry.content.toString() }).toEqual({
      time: '2026-01-01T00:00:00.123456789Z',
      timeMs: Date.UTC(2026, 0, 1) + 123,
      stream: 'stderr',
      content: 'a b\n',
    });
  });

  it('is a fragment without a newline when it goes on', () => {
    expect(parseLogLine(Buffer.from('2026-01-01T00:00:00Z stdout P part'))!.content.toString()).toBe('part');
    expect(parseLogLine(Buffer.from('2026-01-01T00:00:00Z stdout F '))!.content.toString()).toBe('\n');
  });

  it.each(['', 'x', 'not a time stdout F x', '2026-01-01T00:00:00Z other F x', '2026-01-01T00:00:00Z stdout'])(
    'is nothing when it is %j',
    (text) => {
      expect(parseLogLine(Buffer.from(text))).toBeUndefined();
    },
  );
});

describe('the log of a container', () => {
  it('is read from its rotated files, compressed ones too, and the current one', async () => {
    await writeFile(`${current()}.20260101-000001.gz`, gzipSync(line(1, 'one') + line(2, 'two')));
    await writeFile(`${current()}.20260101-000003`, line(3, 'three'));
    await writeFile(path.join(directory, '10.log'), line(9, 'of another container'));
    await writeFile(current(), line(4, 'fo', 'P') + line(4, 'ur') + line(5, 'five'));
    expect(await read()).toBe('one\ntwo\nthree\nfour\nfive\n');
  });

  it.each([
    [0, ''],
    [1, 'five\n'],
    [2, 'ur\nfive\n'],
    [3, 'four\nfive\n'],
    [4, 'three\nfour\nfive\n'],
    [5, 'two\nthree\nfour\nfive\n'],
    [99, 'one\ntwo\nthree\nfour\nfive\n'],
  ])('has its last %d entries, fragments counted', async (tailLines, expected) => {
    await writeFile(`${current()}.20260101-000001.gz`, gzipSync(line(1, 'one') + line(2, 'two')));
    await writeFile(`${current()}.20260101-000003`, line(3, 'three'));
    await writeFile(current(), line(4, 'fo', 'P') + line(4, 'ur') + line(5, 'five'));
    expect(await read({ tailLines })).toBe(expected);
  });

  it('has no more entries than were asked for when it grows while it is read', async () => {
    await writeFile(`${current()}.20260101-000001`, line(1, 'one') + line(2, 'two'));
    await writeFile(current(), line(3, 'three'));
    const entries: string[] = [];
    for await (const { content } of logs().read(container(), { tailLines: 2 })) {
      entries.push(content.toString());
      if (entries.length === 1) await appendFile(current(), line(4, 'four'));
    }
    expect(entries).toEqual(['two\n', 'three\n']);
  });

  it('has the last lines of a file of many blocks', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => line(i % 60, `entry ${i}`));
    await writeFile(current(), lines.join(''));
    expect(await read({ tailLines: 2 })).toBe('entry 19998\nentry 19999\n');
    expect((await read({ tailLines: 15_000 })).split('\n')[0]).toBe('entry 5000');
  });

  it('leaves out lines that are damaged or beyond all measure', async () => {
    await writeFile(current(), `${line(1, 'one')}garbage\n${'x'.repeat(3 << 20)}\n${line(2, 'two')}`);
    expect(await read()).toBe('one\ntwo\n');
  });

  it('is empty when nothing was written yet', async () => {
    expect(await read()).toBe('');
  });

  it('is followed through a rotation until the container has ended', async () => {
    await writeFile(current(), line(1, 'one'));
    const followed = logs().read(container(), { follow: true })[Symbol.asyncIterator]();
    const next = async () => (await followed.next()).value?.content.toString();
    expect(await next()).toBe('one\n');
    const second = next();
    await appendFile(current(), line(2, 'two'));
    expect(await second).toBe('two\n');
    const third = next();
    await rename(current(), `${current()}.20260101-000002`);
    await appendFile(`${current()}.20260101-000002`, line(3, 'three'));
    await writeFile(current(), line(4, 'four'));
    expect([await third, await next()]).toEqual(['three\n', 'four\n']);
    const last = followed.next();
    state = 'exited';
    await appendFile(current(), line(5, 'five'));
    expect((await last).value?.content.toString()).toBe('five\n');
    expect((await followed.next()).done).toBe(true);
  });

  it('is followed only while the reader is connected', async () => {
    const left = new AbortController();
    const logText = read({ follow: true, signal: left.signal });
    left.abort();
    expect(await logText).toBe('');
  });
});
