import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transform } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { core } from '#api';
import { startCluster, type TestCluster } from '#testing';
import { buildTypes } from '../../scripts/build.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');

const deployment = (replicas: number) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`;

const running = async ({ client }: TestCluster) => {
  const { items } = await client.of(core.Pod).list({ namespace: 'default' });
  return items.filter(({ status }) => status?.phase === 'Running').map(({ metadata, spec }) => `${metadata.name} on ${spec?.nodeName}`);
};

async function untilRunning(cluster: TestCluster, count: number): Promise<readonly string[]> {
  return cluster.waitFor(async () => {
    const pods = await running(cluster);
    return pods.length === count && pods;
  });
}

describe('clusters inside a test', () => {
  test('run fifty at once in one process, isolated from each other', async () => {
    const clusters = await Promise.all(Array.from({ length: 50 }, (_, seed) => startCluster({ clock: 'virtual', seed })));
    try {
      const replicas = clusters.map((_, i) => 1 + (i % 3));
      await Promise.all(clusters.map((cluster, i) => cluster.apply(deployment(replicas[i]!))));
      const podLists = await Promise.all(clusters.map((cluster, i) => untilRunning(cluster, replicas[i]!)));
      expect(podLists.map(({ length }) => length)).toEqual(replicas);
      const [first, second] = clusters as [TestCluster, TestCluster];
      const before = second.clock.now();
      await first.clock.advance('1h');
      expect(second.clock.now()).toBe(before);
    } finally {
      await Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]()));
    }
  });

  const history = async (seed: number) => {
    await using cluster = await startCluster({ nodes: 3, clock: 'virtual', seed });
    await cluster.apply(deployment(4));
    await untilRunning(cluster, 4);
    await cluster.node('n1').crash();
    await cluster.clock.advance('7m');
    const { items } = await cluster.client.of(core.Event).list();
    return { pods: await running(cluster), events: items.map(({ metadata, reason }) => `${metadata.name} ${reason}`) };
  };

  test('repeat exactly with the same seed, and differ with another', async () => {
    const first = await history(7);
    expect(await history(7)).toEqual(first);
    expect((await history(8)).pods).not.toEqual(first.pods);
  });

  test('can be forked without an effect on the original', async () => {
    await using cluster = await startCluster({ nodes: 2, clock: 'virtual' });
    await cluster.apply(deployment(2));
    await untilRunning(cluster, 2);
    await using fork = await cluster.fork();
    expect(fork.clock.now()).toBe(cluster.clock.now());
    await fork.apply(deployment(5));
    expect(await untilRunning(fork, 5)).toHaveLength(5);
    expect(await running(cluster)).toHaveLength(2);
  });
});

const PROGRAM = `
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { core } from 'sampan/client';
import { startCluster, type TestCluster } from 'sampan/testing';

const names = async (cluster: TestCluster): Promise<string[]> =>
  (await cluster.client.of(core.ConfigMap).list({ namespace: 'default' })).items.map(({ metadata }) => metadata.name);

describe('a cluster', () => {
  test('is there for a test', async () => {
    const cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    try {
      await cluster.apply('{ apiVersion: v1, kind: ConfigMap, metadata: { name: mine } }');
      const configMaps: string[] = await cluster.waitFor(async () => {
        const all = await names(cluster);
        return all.includes('mine') && all;
      });
      assert.ok(configMaps.includes('mine'));
      // @ts-expect-error: a node has a name, not a number.
      assert.throws(() => cluster.node(1));
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
  });
});
`;

describe('in node:test', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'sampan-node-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('clusters of the testing library are typed, and end with the test', { timeout: 120_000 }, async () => {
    buildTypes();
    mkdirSync(path.join(directory, 'node_modules/@types'), { recursive: true });
    symlinkSync(ROOT, path.join(directory, 'node_modules/sampan'));
    symlinkSync(path.join(ROOT, 'node_modules/@types/node'), path.join(directory, 'node_modules/@types/node'));
    writeFileSync(path.join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(path.join(directory, 'cluster.test.ts'), PROGRAM);
    const options = ['--noEmit', '--strict', '--target', 'ES2023', '--module', 'NodeNext', '--skipLibCheck', '--types', 'node'];
    const checked = spawnSync(path.join(ROOT, 'node_modules/.bin/tsc'), [...options, 'cluster.test.ts'], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(checked.stdout + checked.stderr).toBe('');
    const { code } = await transform(PROGRAM, { loader: 'ts', format: 'esm', target: 'node20' });
    writeFileSync(path.join(directory, 'cluster.test.mjs'), code);
    const ran = spawnSync(process.execPath, ['--test', 'cluster.test.mjs'], { cwd: directory, encoding: 'utf8', timeout: 60_000 });
    expect(ran.stdout + ran.stderr).toContain('# pass 1');
    expect(ran.status).toBe(0);
  });
});
