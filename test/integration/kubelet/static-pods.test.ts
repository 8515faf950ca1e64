import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { openNodeBench } from './node-bench.ts';
import { openRealKubelet, whyNoContainers } from './real-kubelet.ts';

const MANIFEST = (command: readonly string[] = ['sleep', '1000']) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'busybox:1', command }] },
  });

async function manifests() {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'manifests-'));
  return {
    directory,
    /** Replaces the file atomically, as programs do. */
    async write(name: string, text: string): Promise<void> {
      await writeFile(path.join(directory, `.${name}`), text);
      await rename(path.join(directory, `.${name}`), path.join(directory, name));
    },
    remove: (name: string) => rm(path.join(directory, name)),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

const POLL = { timeout: 30_000, interval: 100 };

describe('a simulated node', () => {
  it('runs pods from files, shows them by mirrors, and makes those again', async () => {
    await using files = await manifests();
    await files.write('web.json', MANIFEST());
    await files.write('broken.json', '{');
    await using bench = await openNodeBench({ configuration: { staticPodPath: files.directory, fileCheckFrequency: '20s' } });
    const pods = bench.client.of(core.Pod);
    const mirror = async () => {
      await bench.clock.settle();
      const { items } = await pods.list();
      return items.find(({ metadata }) => metadata.name === 'web-n1');
    };
    await expect.poll(async () => (await mirror())?.status?.phase, POLL).toBe('Running');
    const first = (await mirror())!;
    const hash = first.metadata.annotations?.['kubernetes.io/config.hash'];
    expect(first.metadata).toMatchObject({
      labels: { app: 'web' },
      annotations: { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.source': 'file' },
      ownerReferences: [{ kind: 'Node', name: 'n1', controller: true }],
    });
    const [container] = await bench.runtime.listContainers();

    // A deleted mirror pod is created again; the pod is not affected.
    await pods.delete(first.metadata, { gracePeriodSeconds: 0 });
    await expect.poll(async () => (await mirror())?.metadata.uid ?? first.metadata.uid, POLL).not.toBe(first.metadata.uid);
    await expect.poll(async () => (await mirror())?.status?.phase, POLL).toBe('Running');
    expect((await bench.runtime.listContainers()).map(({ id }) => id)).toEqual([container?.id]);

    // A changed manifest is a new pod.
    await files.write('web.json', MANIFEST(['sleep', '2000']));
    const later = async <T>(ms: number, look: () => Promise<T>) => {
      await bench.clock.advance(ms);
      return look();
    };
    const hashNow = async () => (await mirror())?.metadata.annotations?.['kubernetes.io/config.hash'] ?? hash;
    await expect.poll(() => later(20_000, hashNow), POLL).not.toBe(hash);

    await files.remove('web.json');
    await expect.poll(() => later(20_000, mirror), POLL).toBeUndefined();
    await expect.poll(() => later(1000, async () => (await bench.runtime.listPodSandbox()).length), POLL).toBe(0);
  });

  it('runs pods from a URL, and keeps them while it does not answer', async () => {
    let answer = { code: 200, text: JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [JSON.parse(MANIFEST())] }) };
    const requests: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requests.push(request.headers['x-token'] as string | undefined);
      response.writeHead(answer.code).end(answer.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const staticPodURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
    try {
      await using bench = await openNodeBench({ configuration: { staticPodURL, staticPodURLHeader: { 'X-Token': ['t'] } } });
      const names = async () => {
        await bench.clock.advance(20_000);
        return (await bench.client.of(core.Pod).list()).items.map(({ metadata }) => metadata.name);
      };
      await expect.poll(names, POLL).toEqual(['web-n1']);
      expect(requests).toContain('t');
      const before = requests.length;
      answer = { code: 500, text: '' };
      const askedNow = async () => {
        await names();
        return requests.length;
      };
      await expect.poll(askedNow, POLL).toBeGreaterThan(before + 1);
      expect(await names()).toEqual(['web-n1']);
      answer = { code: 200, text: JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [] }) };
      await expect.poll(names, POLL).toEqual([]);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

const reason = whyNoContainers();

describe.skipIf(reason !== undefined)('a real node', () => {
  it('runs a pod from a file, adopts it after a restart, and ends it with the file', async () => {
    await using files = await manifests();
    await using node = await openRealKubelet({ evictionHard: {}, configuration: { staticPodPath: files.directory } });
    await files.write('web.json', MANIFEST());
    const name = `web-${node.nodeName}`;
    await expect.poll(() => node.phase(name).catch(() => ''), POLL).toBe('Running');
    const containers = async () => (await node.runtime.listContainers()).map(({ id }) => id);
    const before = await containers();
    expect(before).toHaveLength(1);
    expect(await node.exec(name, 'echo', 'here')).toBe('here');

    await node.stop();
    await node.start();
    await expect.poll(() => node.kubelet.pods.map(({ metadata }) => metadata.name), POLL).toEqual([name]);
    await node.kubelet.idle();
    expect(await containers()).toEqual(before);
    expect((await node.pod(name)).status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, state: { running: {} } });

    await files.remove('web.json');
    await expect.poll(() => node.phase(name).catch(() => 'gone'), POLL).toBe('gone');
    await expect.poll(async () => (await node.runtime.listPodSandbox()).length, POLL).toBe(0);
  }, 120_000);
});
