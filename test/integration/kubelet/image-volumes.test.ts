import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { field, GrpcClient, message, realClock, repeated } from '#base';
import { registryImage } from '../../../src/kubelet/containerd/registry-image.test-data.ts';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`image volumes of real containers are skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };
const PORT = 5003;
const PROGRAM = path.resolve('src/kubelet/containerd/registry-program.mjs');

/** A registry that is reachable from the node's runtime. */
async function startRegistry(node: RealKubelet, images: object): Promise<AsyncDisposable> {
  const file = path.join(node.directory, 'registry.json');
  await writeFile(file, JSON.stringify({ images }));
  const args = [`--net=/run/netns/${node.site.netns}`, process.execPath, PROGRAM, String(PORT), file];
  const child: ChildProcess = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const listSnapshots = {
  name: 'containerd.services.snapshots.v1.Snapshots/List',
  request: message({ snapshotter: field(1, 'string') }),
  response: message({ info: repeated(1, message({ name: field(1, 'string') })) }),
};
const SNAPSHOT_CALL = { timeoutMs: 10_000, metadata: { 'containerd-namespace': 'k8s.io' } };

describe.skipIf(reason !== undefined)('a pod with an image volume', () => {
  it('waits with upstream’s reason where its policy is never to pull, and the image is not there', async () => {
    await using node = await openRealKubelet();
    const volumes = [{ name: 'v', image: { reference: 'example.com/none:1', pullPolicy: 'Never' } }];
    const mounts = [{ name: 'v', mountPath: '/v' }];
    await node.create('p', { volumes, containers: [{ name: 'c', image: 'busybox:1', command: ['true'], volumeMounts: mounts }] });
    const waiting = async () => (await node.pod('p')).status?.containerStatuses?.[0]?.state?.waiting;
    await expect.poll(waiting, POLL).toEqual({
      reason: 'ErrImageNeverPull',
      message: 'Container image "example.com/none:1" is not present with pull policy of Never',
    });
  });

  it('has the files of an image that was loaded', async () => {
    await using node = await openRealKubelet();
    const volumes = [{ name: 'v', image: { reference: 'busybox:1', pullPolicy: 'Never' } }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    await node.run('p', { volumes, containers: [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], volumeMounts }] } as never);
    expect(await node.exec('p', 'ls', '/v/bin/busybox')).toBe('/v/bin/busybox');
  });

  it('has the files of an image that is pulled, all of them or a directory, and may not write them', async () => {
    await using node = await openRealKubelet();
    const image = registryImage([{ 'data/a': 'lower', 'data/b': 'lower' }, { 'data/b': 'upper' }], node.site.config.architecture);
    await using _registry = await startRegistry(node, { 'team/files:1': image });
    const volumes = [{ name: 'v', image: { reference: `127.0.0.1:${PORT}/team/files:1`, pullPolicy: 'Always' } }];
    const volumeMounts = [
      { name: 'v', mountPath: '/whole' },
      { name: 'v', mountPath: '/part', subPath: 'data' },
    ];
    await node.run('p', { volumes, containers: [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], volumeMounts }] } as never);
    expect(await node.exec('p', 'cat', '/whole/data/a', '/whole/data/b', '/part/b')).toBe('lowerupperupper');
    expect(await node.exec('p', 'sh', '-c', 'touch /whole/x 2>&1; touch /part/x 2>&1')).toBe(
      'touch: /whole/x: Read-only file system\ntouch: /part/x: Read-only file system',
    );
    expect(await node.events('p')).toContainEqual(expect.stringContaining(`Successfully pulled image "127.0.0.1:${PORT}/team/files:1"`));
    await node.stop();
    await node.start();
    expect(await node.exec('p', 'cat', '/whole/data/a')).toBe('lower');

    await node.client.of(core.Pod).delete({ name: 'p', namespace: 'default' });
    await expect.poll(() => readdir(path.join(node.directory, 'kubelet/pods')), POLL).toEqual([]);
    expect(await viewsOf(node)).toEqual([]);
  });
});

/** The image views that the runtime still holds. */
async function viewsOf(node: RealKubelet): Promise<readonly string[]> {
  using client = new GrpcClient({ endpoint: node.containerd.endpoint, clock: realClock });
  const names: string[] = [];
  for await (const { info } of client.serverStream(listSnapshots, { snapshotter: 'overlayfs' }, SNAPSHOT_CALL))
    names.push(...info.map(({ name }) => name));
  return names.filter((name) => name.startsWith('sampan-image-volume-') || name.startsWith('sampan-unpack-'));
}
