import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, discovery } from '#api';
import { createLogger, realClock, systemRandom } from '#base';
import { type KubeProxy, type ProxyMode, readProxyConfiguration, startProxy } from '#proxy';
import { startCluster, type TestCluster } from '#testing';
import { Lab, type Namespace, namespacesProblem } from './machines.ts';
import { NodeMachine } from './node-machine.ts';

const problem = namespacesProblem();
if (problem) console.warn(`the proxy is not tested on packets: ${problem}`);
const POLL = { timeout: 20_000, interval: 50 };
const warnings: string[] = [];
const logger = createLogger({ clock: realClock, level: 'warn', write: (line) => void warnings.push(line) });

interface Pod {
  readonly pod: Namespace;
  readonly addresses: string[];
}

describe.skipIf(problem !== undefined).each(['nftables', 'iptables'] as ProxyMode[])(
  'services by %s, on one machine with a neighbour',
  (mode) => {
    let cluster: TestCluster;
    let lab: Lab;
    let node: NodeMachine;
    let outside: Namespace;
    let proxy: KubeProxy | undefined;
    let pods: Pod[];
    let client: Pod;

    beforeEach(async () => {
      cluster = await startCluster({ nodes: 0, controllers: [] });
      lab = await Lab.create();
      const machine = await lab.namespace('n1');
      outside = await lab.namespace('outside');
      await lab.link([
        { machine, device: 'eth0', addresses: ['192.168.71.1/24'] },
        { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24'] },
      ]);
      await machine.kernel.ip([['route', 'add', 'default', 'via', '192.168.71.9']]);
      await outside.kernel.ip([
        ['route', 'add', '10.96.0.0/16', 'via', '192.168.71.1'],
        ['route', 'add', '198.51.100.0/24', 'via', '192.168.71.1'],
      ]);
      node = new NodeMachine('n1', machine, { lab, client: cluster.client }, { removeOnStop: true });
      await node.register(['10.71.0.0/24'], ['192.168.71.1']);
      await node.start();
      pods = [await node.pod('a'), await node.pod('b')];
      client = await node.pod('client');
      for (const { pod } of pods) {
        await pod.listen(8080);
        await pod.listen(8080, { protocol: 'udp', host: '0.0.0.0' });
      }
    });
    afterEach(async () => {
      await stopProxy();
      await node.stop();
      await lab[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    });

    async function run(): Promise<KubeProxy> {
      const settings = {
        mode,
        clusterCIDR: '10.71.0.0/16',
        healthzBindAddress: '127.0.0.1:0',
        metricsBindAddress: '127.0.0.1:0',
        [mode]: { minSyncPeriod: '1ms' },
      };
      const config = { ...readProxyConfiguration(settings), nodeName: 'n1', removeOnStop: true };
      proxy = startProxy(config, { client: cluster.client, clock: realClock, random: systemRandom, logger, kernel: node.machine.kernel });
      await proxy.ready;
      return proxy;
    }
    async function stopProxy(): Promise<void> {
      await proxy?.[Symbol.asyncDispose]();
      proxy = undefined;
    }

    async function service(name: string, spec: object = {}, status?: object): Promise<string> {
      const ports = [
        { name: 'tcp', port: 80, targetPort: 8080, protocol: 'TCP' },
        { name: 'udp', port: 80, targetPort: 8080, protocol: 'UDP' },
      ];
      const services = cluster.client.of(core.Service);
      const created = await services.create({ metadata: { name, namespace: 'default' }, spec: { ports, ...spec } } as core.Service);
      if (status) await services.patch({ name, namespace: 'default' }, { status }, { subresource: 'status' });
      return created.spec!.clusterIP!;
    }
    type Spec = { address: string; ready?: boolean; terminating?: boolean; nodeName?: string };
    async function endpoints(name: string, list: readonly Spec[]): Promise<void> {
      const slices = cluster.client.of(discovery.EndpointSlice);
      const slice = {
        metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        ports: [
          { name: 'tcp', port: 8080, protocol: 'TCP' },
          { name: 'udp', port: 8080, protocol: 'UDP' },
        ],
        endpoints: list.map(({ address, ready = true, terminating = false, nodeName = 'n1' }) => ({
          addresses: [address],
          nodeName,
          conditions: { ready, serving: ready || terminating, terminating },
        })),
      };
      await slices.delete({ name, namespace: 'default' }).catch(() => {});
      await slices.create(slice as discovery.EndpointSlice);
    }
    const both = () => pods.map(({ addresses }) => ({ address: addresses[0]! }));
    const names = () => pods.map(({ pod }) => pod.name).sort();
    async function reached(
      from: Namespace,
      target: { host: string; port: number; protocol?: 'tcp' | 'udp' },
      times = 16,
    ): Promise<string[]> {
      const seen = new Set<string>();
      for (let i = 0; i < times; i++) seen.add(await from.reach({ timeoutMs: 500, ...target }));
      return [...seen].sort();
    }

    it('spreads connections to a cluster address over its endpoints, from pods, the node and outside, and keeps the address of pods', async () => {
      const host = await service('s');
      await endpoints('s', both());
      await run();
      for (const from of [client.pod, node.machine, outside]) expect(await reached(from, { host, port: 80 })).toEqual(names());
      expect(await reached(client.pod, { host, port: 80, protocol: 'udp' })).toEqual(names());
      expect(await client.pod.connect({ host, port: 80 })).toMatchObject({ reply: { from: client.addresses[0] } });
    });

    it('lets a pod reach itself through its service', async () => {
      const host = await service('s');
      await endpoints('s', both().slice(0, 1));
      await run();
      for (const protocol of ['tcp', 'udp'] as const)
        expect(await pods[0]!.pod.reach({ host, port: 80, protocol })).toBe(pods[0]!.pod.name);
    });

    it('refuses connections where there is no endpoint, and to ports that a service does not have', async () => {
      const host = await service('s');
      await endpoints('s', []);
      await run();
      for (const from of [client.pod, node.machine]) {
        expect(await from.reach({ host, port: 80 })).toBe('ECONNREFUSED');
        // As upstream: only the nftables mode rejects unused cluster IPs.
        if (mode === 'nftables') expect(await from.reach({ host, port: 81 })).toBe('ECONNREFUSED');
        expect(await from.reach({ host, port: 80, protocol: 'udp' })).toBe('ECONNREFUSED');
      }
    });

    it('follows endpoints as they come and go, and lets datagrams leave an endpoint that is gone', async () => {
      const host = await service('s');
      await endpoints('s', both().slice(0, 1));
      await run();
      expect(await client.pod.reach({ host, port: 80, protocol: 'udp' })).toBe(pods[0]!.pod.name);
      await endpoints('s', both().slice(1));
      await expect.poll(() => client.pod.reach({ host, port: 80, timeoutMs: 300 }), POLL).toBe(pods[1]!.pod.name);
      expect(await reached(client.pod, { host, port: 80, protocol: 'udp' }, 4)).toEqual([pods[1]!.pod.name]);
      await endpoints('s', []);
      await expect.poll(() => client.pod.reach({ host, port: 80 }), POLL).toBe('ECONNREFUSED');
      await endpoints('s', both());
      await expect.poll(() => client.pod.reach({ host, port: 80 }), POLL).not.toBe('ECONNREFUSED');
    });

    it('keeps a client with its endpoint for the time of its affinity', async () => {
      const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 2 } } };
      const host = await service('s', affinity);
      await endpoints('s', both());
      await run();
      const [first] = await reached(client.pod, { host, port: 80 });
      expect(await reached(client.pod, { host, port: 80 })).toEqual([first]);
      const index = pods.findIndex(({ pod }) => pod.name === first);
      await endpoints(
        's',
        both().filter((_, i) => i !== index),
      );
      await expect.poll(() => client.pod.reach({ host, port: 80 }), POLL).toBe(pods[1 - index]!.pod.name);
      await endpoints('s', both());
      await expect
        .poll(
          async () => {
            await new Promise((resolve) => setTimeout(resolve, 2500));
            return client.pod.reach({ host, port: 80 });
          },
          { timeout: 30_000 },
        )
        .toBe(first);
    });

    it('serves node ports, external addresses and load balancers from outside, and hides the client from pods', async () => {
      const status = { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } };
      await service(
        's',
        { type: 'LoadBalancer', externalIPs: ['198.51.100.8'], ports: [{ name: 'tcp', port: 80, targetPort: 8080, nodePort: 30_080 }] },
        status,
      );
      await endpoints('s', both());
      await run();
      for (const from of [outside, client.pod, node.machine]) {
        expect(await reached(from, { host: '192.168.71.1', port: 30_080 })).toEqual(names());
        expect(await reached(from, { host: '198.51.100.7', port: 80 })).toEqual(names());
        expect(await reached(from, { host: '198.51.100.8', port: 80 })).toEqual(names());
      }
      expect(await outside.connect({ host: '192.168.71.1', port: 30_080 })).not.toMatchObject({ reply: { from: '192.168.71.9' } });
    });

    it('keeps the address of clients with externalTrafficPolicy Local, and drops where the node has no endpoint', async () => {
      const ports = [{ name: 'tcp', port: 80, targetPort: 8080, nodePort: 30_080 }];
      await service('s', { type: 'NodePort', externalTrafficPolicy: 'Local', ports });
      await endpoints('s', [{ address: pods[0]!.addresses[0]! }, { address: pods[1]!.addresses[0]!, nodeName: 'n2' }]);
      await run();
      expect(await reached(outside, { host: '192.168.71.1', port: 30_080 })).toEqual([pods[0]!.pod.name]);
      expect(await outside.connect({ host: '192.168.71.1', port: 30_080 })).toMatchObject({ reply: { from: '192.168.71.9' } });
      expect(await reached(client.pod, { host: '192.168.71.1', port: 30_080 })).toEqual(names());
      await endpoints('s', [{ address: pods[1]!.addresses[0]!, nodeName: 'n2' }]);
      await expect.poll(() => outside.reach({ host: '192.168.71.1', port: 30_080, timeoutMs: 300 }), POLL).toBe('timeout');
      expect(await client.pod.reach({ host: '192.168.71.1', port: 30_080 })).toBe(pods[1]!.pod.name);
      // Terminating endpoints are used when no other is left on the node.
      await endpoints('s', [{ address: pods[0]!.addresses[0]!, ready: false, terminating: true }]);
      await expect.poll(() => outside.reach({ host: '192.168.71.1', port: 30_080, timeoutMs: 300 }), POLL).toBe(pods[0]!.pod.name);
    });

    it('lets only its source ranges reach a load balancer', async () => {
      const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.71.0.0/16'], allocateLoadBalancerNodePorts: false };
      await service('s', spec, { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } });
      await endpoints('s', both());
      await run();
      expect(await outside.reach({ host: '198.51.100.7', port: 80, timeoutMs: 300 })).toBe('timeout');
      expect(await reached(client.pod, { host: '198.51.100.7', port: 80 })).toEqual(names());
    });

    it('keeps connections and rules through a restart, and leaves rules of others alone', async () => {
      const host = await service('s');
      await endpoints('s', both());
      await node.machine.kernel.nft('table ip other { chain c { type filter hook input priority 0;\n}\n}\n');
      await run();
      await client.pod.open('k', { host, port: 80 });
      await stopProxy();
      expect(await node.machine.kernel.run('nft', ['list', 'tables'])).not.toMatch(/sampan-proxy|SAMPAN/);
      await run();
      expect(await client.pod.echo('k', 'hello')).toBe('hello');
      expect(await node.machine.kernel.run('nft', ['list', 'table', 'ip', 'other'])).toContain('chain c');
    });

    it('answers /healthz, /livez and /metrics as upstream does', async () => {
      await service('s');
      const { healthzPort, metricsPort } = await run();
      const get = async (port: number | undefined, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
      expect(JSON.parse(await get(healthzPort, '/healthz'))).toMatchObject({ nodeEligible: true });
      expect(JSON.parse(await get(healthzPort, '/livez'))).toHaveProperty('lastUpdated');
      expect(await get(metricsPort, '/metrics')).toMatch(/kubeproxy_sync_proxy_rules_duration_seconds_count [1-9]/);
      expect(await get(metricsPort, '/proxyMode')).toBe(mode);
    });
  },
);
