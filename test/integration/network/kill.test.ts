import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import packet from 'dns-packet';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { core, discovery } from '#api';
import { type ProxyMode, readProxyConfiguration } from '#proxy';
import { startCluster, type TestCluster } from '#testing';
import { BUNDLE_OPTIONS } from '../../../scripts/build.mjs';
import { freePort } from '../../../src/store/contract/free-port.ts';
import type { ComponentArguments } from './component-process.ts';
import { Lab, type Namespace, namespacesProblem, type Target } from './machines.ts';
import { NodeMachine } from './node-machine.ts';

const problem = namespacesProblem();
if (problem) console.warn(`components of the network are not killed under traffic: ${problem}`);

const ROUNDS = 2;

describe.skipIf(problem !== undefined)('kill -9 under traffic', () => {
  let bundle: string;
  let cluster: TestCluster;
  let kubeconfig: string;
  let lab: Lab;
  let node: NodeMachine;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    bundle = await mkdtemp(path.join(os.tmpdir(), 'sampan-component-'));
    const entry = path.resolve('test/integration/network/component-process.ts');
    await build({ ...BUNDLE_OPTIONS, entryPoints: [entry], outfile: path.join(bundle, 'component.mjs') } as never);
  });
  afterAll(() => rm(bundle, { recursive: true, force: true }));
  beforeEach(async () => {
    cluster = await startCluster({ nodes: 0, controllers: [] });
    kubeconfig = await cluster.kubeconfig();
    lab = await Lab.create();
    node = new NodeMachine('n1', await lab.namespace('n1'), { lab, client: cluster.client });
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
  });
  afterEach(async () => {
    for (const child of running.splice(0)) await kill(child);
    await node.stop();
    await lab[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  async function run(component: Pick<ComponentArguments, 'name' | 'config'>): Promise<ChildProcess> {
    const args = JSON.stringify({ ...component, kubeconfig, netns: node.machine.path });
    const child = spawn(process.execPath, [path.join(bundle, 'component.mjs'), args], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(child);
    await once(child.stdout, 'data');
    return child;
  }
  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** Opens connections continually and keeps one open during `work`: all of them must be served. */
  async function underTraffic(from: Namespace, target: Target, work: () => Promise<void>): Promise<void> {
    const failures: string[] = [];
    let count = 0;
    let isOver = false;
    await from.open('kept', target);
    const traffic = (async () => {
      for (; !isOver; count++) {
        const name = await from.reach({ ...target, timeoutMs: 10_000 });
        if (!/-[ab]$/.test(name)) failures.push(name);
      }
    })();
    try {
      await work();
    } finally {
      isOver = true;
      await traffic;
    }
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(ROUNDS);
    expect(await from.echo('kept', 'still there')).toBe('still there');
  }

  async function service(addresses: readonly string[]): Promise<string> {
    const { spec } = await cluster.client.of(core.Service).create({
      metadata: { name: 'web', namespace: 'default' },
      spec: { ports: [{ port: 80, targetPort: 8080 }] },
    } as core.Service);
    await cluster.client.of(discovery.EndpointSlice).create({
      metadata: { name: 'web', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: '', protocol: 'TCP', port: 8080 }],
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    } as discovery.EndpointSlice);
    return spec!.clusterIP!;
  }

  it('of the network agent: pods keep their addresses and connections, and a pod that comes meanwhile waits for its own', async () => {
    const config = node.config;
    let agent = await run({ name: 'agent', config });
    const [a, b] = [await node.pod('a'), await node.pod('b')];
    await b.pod.listen(8080);
    const addressesInUse = new Set([...a.addresses, ...b.addresses]);
    await underTraffic(a.pod, { host: b.addresses[0]!, port: 8080 }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await kill(agent);
        const late = node.pod(`late${round}`);
        agent = await run({ name: 'agent', config });
        addressesInUse.add((await late).addresses[0]!);
        for (const { id, pod } of [a, b]) expect(await node.cni('CHECK', id, { netns: pod.path })).toMatchObject({ exitCode: 0 });
      }
    });
    expect(addressesInUse.size).toBe(2 + ROUNDS);
  });

  it.each(['nftables', 'iptables'] as ProxyMode[])(
    'of the proxy by %s: services are served, and changes meanwhile are followed later',
    async (mode) => {
      await node.start();
      const [a, b, client] = [await node.pod('a'), await node.pod('b'), await node.pod('client')];
      for (const { pod } of [a, b]) await pod.listen(8080);
      const host = await service([b.addresses[0]!]);
      const settings = { mode, clusterCIDR: '10.71.0.0/16', healthzBindAddress: '127.0.0.1:0', metricsBindAddress: '127.0.0.1:0' };
      const config = { ...readProxyConfiguration({ ...settings, [mode]: { minSyncPeriod: '1ms' } }), nodeName: 'n1' };
      let proxy = await run({ name: 'proxy', config });
      await underTraffic(client.pod, { host, port: 80 }, async () => {
        for (const endpoints of [[a], [b]]) {
          await kill(proxy);
          const list = endpoints.map(({ addresses }) => ({ addresses: [addresses[0]], conditions: { ready: true } }));
          await cluster.client.of(discovery.EndpointSlice).patch({ name: 'web', namespace: 'default' }, { endpoints: list });
          expect(await client.pod.reach({ host, port: 80, timeoutMs: 10_000 })).toMatch(/-[ab]$/);
          proxy = await run({ name: 'proxy', config });
          await expect.poll(() => client.pod.reach({ host, port: 80, timeoutMs: 10_000 })).toBe(endpoints[0]!.pod.name);
        }
      });
    },
  );

  it('of DNS: names are answered again as before, and connections are not touched', async () => {
    await node.start();
    const [a, b] = [await node.pod('a'), await node.pod('b')];
    await b.pod.listen(8080);
    const host = await service([b.addresses[0]!]);
    const port = await freePort();
    const config = { listen: ['127.0.0.1'], port, upstream: [] };
    let dns = await run({ name: 'dns', config });
    await underTraffic(a.pod, { host: b.addresses[0]!, port: 8080 }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        expect(await lookUp('web.default.svc.cluster.local', port)).toEqual([host]);
        await kill(dns);
        dns = await run({ name: 'dns', config });
      }
      expect(await lookUp('web.default.svc.cluster.local', port)).toEqual([host]);
    });
  });
});

async function lookUp(name: string, port: number): Promise<unknown[]> {
  const socket = createSocket('udp4');
  const query = packet.encode({ type: 'query', id: 1, flags: packet.RECURSION_DESIRED, questions: [{ type: 'A', name, class: 'IN' }] });
  const again = setInterval(() => socket.send(query, port, '127.0.0.1'), 500);
  try {
    socket.send(query, port, '127.0.0.1');
    const [reply] = (await once(socket, 'message')) as [Buffer];
    return (packet.decode(reply).answers ?? []).map((answer) => (answer as { data: unknown }).data);
  } finally {
    clearInterval(again);
    socket.close();
  }
}
