import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock, silentLogger } from '#base';
import { GrpcRuntime } from '../cri/grpc/grpc-runtime.ts';
import { type ContainerdSite, makeContainerdSite, whyNoContainers } from './containerd.test-setup.ts';
import { noStreaming } from './no-streaming.ts';
import type { PrivateContainerd } from './private-containerd.ts';
import { type RegistryImage, registryImage } from './registry-image.test-data.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of image pulls are skipped: ${reason}`);

const PROGRAM = path.resolve('src/kubelet/containerd/registry-program.mjs');

describe.skipIf(reason !== undefined)('pulling an image', { timeout: 60_000 }, () => {
  let site: ContainerdSite;
  let containerd: PrivateContainerd;
  let runtime: GrpcRuntime;
  let directory: string;
  const registries: ChildProcess[] = [];

  async function registry(port: number, content: object): Promise<void> {
    const file = path.join(directory, `${port}.json`);
    await writeFile(file, JSON.stringify(content));
    const child = spawn('nsenter', [`--net=/run/netns/${site.netns}`, process.execPath, PROGRAM, String(port), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    registries.push(child);
    await once(child.stdout, 'data');
  }

  beforeAll(async () => {
    site = await makeContainerdSite();
    directory = await mkdtemp(path.join(os.tmpdir(), 'registry-'));
    containerd = site.start();
    await containerd.ready;
    runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { clock: realClock, logger: silentLogger, streaming: noStreaming });
    const arch = site.config.architecture;
    const [open, slow, broken] = ['open', 'slow', 'broken'].map((text) => registryImage([{ [text]: text }], arch)) as [
      RegistryImage,
      RegistryImage,
      RegistryImage,
    ];
    await registry(5001, {
      images: { 'team/open:1': open, 'team/slow:1': slow, 'team/broken:1': broken },
      slow: [slow.layer],
      broken: [broken.layer],
    });
    await registry(5002, {
      username: 'user',
      password: 'secret',
      images: { 'team/private:1': registryImage([{ private: 'private' }], arch) },
    });
  }, 60_000);

  afterAll(async () => {
    for (const child of registries) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    runtime?.[Symbol.dispose]();
    await containerd?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  test.each(['open', 'slow'])('from an %s registry gives the reference that containers name it by', async (name) => {
    const image = `127.0.0.1:5001/team/${name}:1`;
    const ref = await runtime.pullImage({ image }, {});
    expect(await runtime.imageStatus({ image })).toMatchObject({ id: ref, repoTags: [image] });
  });

  test('with the right password works', async () => {
    const image = '127.0.0.1:5002/team/private:1';
    await runtime.pullImage({ image }, { auth: { username: 'user', password: 'secret' } });
    expect(await runtime.imageStatus({ image })).toMatchObject({ repoTags: [image] });
  });

  test.each([
    ['without a password', '127.0.0.1:5002/team/private:2', {}, '401 Unauthorized'],
    ['with a wrong password', '127.0.0.1:5002/team/private:1', { auth: { username: 'user', password: 'wrong' } }, '401 Unauthorized'],
    ['of a tag that is missing', '127.0.0.1:5001/team/open:2', {}, 'not found'],
    ['with a broken layer', '127.0.0.1:5001/team/broken:1', {}, 'failed'],
    ['from a registry that is not there', '127.0.0.1:1/team/open:1', {}, 'connection refused'],
  ])('%s says why it fails', async (_, image, request, text) => {
    await expect(runtime.pullImage({ image }, request)).rejects.toMatchObject({
      name: 'RuntimeError',
      description: expect.stringContaining(text),
    });
  });

  test('is cancelled when all callers gave up', async () => {
    const stop = new AbortController();
    const pulling = runtime.pullImage({ image: '127.0.0.1:5001/team/broken:1' }, {}, { signal: stop.signal });
    stop.abort(new Error('no longer needed'));
    await expect(pulling).rejects.toThrow('no longer needed');
  });
});
