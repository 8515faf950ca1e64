import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger, VirtualClock } from '#base';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { LogRotation } from './log-rotation.ts';

let directory: string;
let file: string;
let reopened: number;
let failure: Error | undefined;
const clock = new VirtualClock({ startMs: Date.parse('2024-01-02T03:04:05Z') });

/** A runtime with one container, which reopens its log on request. */
const runtime = {
  listContainers: async ({ labelSelector }: { labelSelector?: Readonly<Record<string, string>> } = {}) =>
    labelSelector?.[POD_UID] === 'u' && labelSelector[CONTAINER_NAME] === 'c' ? [{ id: 'id', metadata: { name: 'c', attempt: 0 } }] : [],
  reopenContainerLog: async () => {
    if (failure) throw failure;
    reopened++;
    await writeFile(file, '');
  },
} as never;

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'log-rotation-'));
  file = path.join(directory, 'ns_pod_u/c/0.log');
  await mkdir(path.dirname(file), { recursive: true });
  reopened = 0;
  failure = undefined;
});
afterEach(() => rm(directory, { recursive: true }));

const rotation = (containerLogMaxBytes = 10) =>
  new LogRotation({ containerLogMaxBytes, containerLogMaxFiles: 3 }, { runtime, clock, logger: silentLogger, directory });
const names = async () => (await readdir(path.dirname(file))).sort();

describe('the log of a container', () => {
  it('is begun anew when it is large enough, and no more files are kept than are asked for, old ones compressed', async () => {
    const logs = rotation();
    for (const text of ['first log', 'the second log', 'the third log!', 'the fourth log']) {
      await appendFile(file, text);
      await logs.rotateAll();
      await clock.advance(1000);
    }
    expect(reopened).toBe(3);
    expect(await names()).toEqual(['0.log', '0.log.20240102-030407.gz', '0.log.20240102-030408']);
    const [, compressed = '', newest = ''] = await names();
    expect(gunzipSync(await readFile(path.join(path.dirname(file), compressed))).toString()).toBe('the third log!');
    expect(await readFile(path.join(path.dirname(file), newest), 'utf8')).toBe('the fourth log');
  });

  it('stays where it is when the runtime does not begin another, and when it is of a container that has ended', async () => {
    failure = new Error('not now');
    await writeFile(file, 'a large log');
    const ended = path.join(path.dirname(file), '7.log');
    await writeFile(ended, 'another large log');
    const logs = rotation();
    await logs.rotateAll();
    await logs.rotateAll();
    expect(await names()).toEqual(['0.log', '7.log']);
    expect(await readFile(file, 'utf8')).toBe('a large log');
  });

  it('grows without limit when its size may be anything', async () => {
    await writeFile(file, 'a large log');
    await rotation(-1).rotateAll();
    expect(await names()).toEqual(['0.log']);
  });
});
