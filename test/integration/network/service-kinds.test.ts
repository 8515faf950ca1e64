import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { core, discovery } from '#api';
import type { ProxyMode } from '#proxy';
import { namespacesProblem, sctpProblem } from './machines.ts';
import { NODE_ADDRESSES, OUTSIDE_ADDRESSES, ServiceLab } from './service-lab.ts';

const problem = namespacesProblem();
if (problem) console.warn(`services are not tested on packets: ${problem}`);
const noSctp = sctpProblem();
if (noSctp) console.warn(`SCTP is not tested: ${noSctp}`);

const POLL = { timeout: 20_000, interval: 50 };
const PROTOCOLS = ['tcp', 'udp'] as const;
const nodePortOf = (service: core.Service) => service.spec!.ports![0]!.nodePort!;

describe.skipIf(problem !== undefined).each(['nftables', 'iptables'] as ProxyMode[])(
  'kinds of services by %s, in both families',
  (mode) => {
    let lab: ServiceLab;
    beforeAll(async () => {
      lab = await ServiceLab.create(mode);
    }, 60_000);
    afterEach(async () => {
      await lab.stopProxy();
      const services = lab.cluster.client.of(core.Service);
      for (const { metadata } of (await services.list({ namespace: 'default' })).items)
        if (metadata?.name !== 'kubernetes') await services.delete({ name: metadata!.name!, namespace: 'default' });
    });
    afterAll(async () => {
      await lab?.[Symbol.asyncDispose]();
    });

    it('dual stack: both cluster addresses and the node port lead to all endpoints, and pods keep their address', async () => {
      const hosts = await lab.service('dual', { type: 'NodePort' });
      const nodePort = nodePortOf(await lab.get('dual'));
      expect(hosts.map((host) => host.includes(':'))).toEqual([false, true]);
      await lab.endpoints('dual', lab.both());
      await lab.run();
      for (const [i, host] of hosts.entries()) {
        for (const protocol of PROTOCOLS) {
          expect(await lab.reached(lab.client.pod, { host, port: 80, protocol })).toEqual(lab.names);
          expect(await lab.reached(lab.node.machine, { host, port: 80, protocol })).toEqual(lab.names);
        }
        expect(await lab.reached(lab.outside, { host, port: 80 })).toEqual(lab.names);
        expect(await lab.reached(lab.outside, { host: NODE_ADDRESSES[i]!, port: nodePort })).toEqual(lab.names);
        expect(await lab.client.pod.connect({ host, port: 80 })).toMatchObject({ reply: { from: lab.client.addresses[i] } });
        expect(await lab.pods[0]!.pod.reach({ host, port: 80 })).toMatch(/-[ab]$/);
      }
    });

    it.skipIf(noSctp !== undefined)('SCTP: cluster address and node port, in both families, and refused without endpoints', async () => {
      const hosts = await lab.service('sctp', {
        type: 'NodePort',
        ports: [{ name: 'sctp', protocol: 'SCTP', port: 80, targetPort: 8080 }],
      });
      const nodePort = nodePortOf(await lab.get('sctp'));
      const [{ pod }] = lab.pods as [(typeof lab.pods)[0]];
      for (const family of [4, 6] as const) await pod.listenSctp(family, 8080);
      await lab.endpoints('sctp', lab.of(0));
      await lab.run();
      for (const [i, host] of hosts.entries()) {
        expect(await lab.client.pod.reachSctp({ host, port: 80 })).toBe(pod.name);
        expect(await lab.outside.reachSctp({ host: NODE_ADDRESSES[i]!, port: nodePort })).toBe(pod.name);
      }
      await lab.endpoints('sctp', []);
      await expect.poll(() => lab.client.pod.reachSctp({ host: hosts[0]!, port: 80, timeoutMs: 300 }), POLL).toBe('timeout');
    });

    it('session affinity: a client stays with its endpoint, and chooses anew after the time-out', async () => {
      const sessionAffinityConfig = { clientIP: { timeoutSeconds: 1 } };
      const hosts = await lab.service('sticky', { sessionAffinity: 'ClientIP', sessionAffinityConfig });
      await lab.endpoints('sticky', lab.both());
      await lab.run();
      for (const host of hosts) {
        const [first] = await lab.reached(lab.client.pod, { host, port: 80 }, 1);
        expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual([first]);
        // Idle for longer than the timeout; repeated until the other endpoint is chosen.
        const idle = async () => {
          await new Promise((resolve) => setTimeout(resolve, 1_500));
          return lab.client.pod.reach({ host, port: 80 });
        };
        await expect.poll(idle, { timeout: 45_000 }).not.toBe(first);
      }
    }, 150_000);

    it('session affinity may be switched on and off, also at the node port', async () => {
      const [host = ''] = await lab.service('switched', { type: 'NodePort' });
      const targets = [
        { from: lab.client.pod, host, port: 80 },
        { from: lab.outside, host: NODE_ADDRESSES[0], port: nodePortOf(await lab.get('switched')) },
      ];
      await lab.endpoints('switched', lab.both());
      await lab.run();
      const services = lab.cluster.client.of(core.Service);
      const reachedFrom = ({ from, ...target }: (typeof targets)[0]) => lab.reached(from, target);
      for (const target of targets) expect(await reachedFrom(target)).toEqual(lab.names);
      await services.patch({ name: 'switched', namespace: 'default' }, { spec: { sessionAffinity: 'ClientIP' } });
      for (const target of targets) await expect.poll(async () => (await reachedFrom(target)).length, POLL).toBe(1);
      await services.patch({ name: 'switched', namespace: 'default' }, { spec: { sessionAffinity: 'None', sessionAffinityConfig: null } });
      for (const target of targets) await expect.poll(() => reachedFrom(target), POLL).toEqual(lab.names);
    });

    it('a service may change its type: its addresses come and go with it', async () => {
      const ports = [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 }];
      const [host = ''] = await lab.service('changing', { ports, ipFamilyPolicy: 'SingleStack' });
      await lab.endpoints('changing', lab.both());
      await lab.run();
      const change = (spec: object) =>
        lab.cluster.client.of(core.Service).patch({ name: 'changing', namespace: 'default' }, { spec }, { type: 'merge' });
      expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual(lab.names);
      await change({
        type: 'ExternalName',
        externalName: 'example.org',
        clusterIP: null,
        clusterIPs: null,
        ipFamilies: null,
        ipFamilyPolicy: null,
      });
      await expect.poll(() => lab.client.pod.reach({ host, port: 80, timeoutMs: 300 }), POLL).not.toMatch(/-[ab]$/);
      const { spec } = await change({ type: 'NodePort', externalName: null });
      const nodePort = spec!.ports![0]!.nodePort!;
      await expect.poll(() => lab.reached(lab.outside, { host: NODE_ADDRESSES[0], port: nodePort }), POLL).toEqual(lab.names);
      expect(await lab.reached(lab.client.pod, { host: spec!.clusterIP!, port: 80 })).toEqual(lab.names);
      await change({ type: 'ClusterIP', ports: [{ ...ports[0], nodePort: null }] });
      await expect.poll(() => lab.outside.reach({ host: NODE_ADDRESSES[0], port: nodePort }), POLL).toBe('ECONNREFUSED');
    });

    it('slices by hand: ports of one address in two slices, and endpoints of one port with ports of their own', async () => {
      const [a, b] = lab.pods as [(typeof lab.pods)[0], (typeof lab.pods)[0]];
      await a.pod.listen(8081, { name: 'second port' });
      const ports = ['one', 'two'].map((name, i) => ({ name, protocol: 'TCP', port: 80 + i }));
      const [host = ''] = await lab.service('by-hand', { ports, ipFamilyPolicy: 'SingleStack' });
      const slice = async (name: string, portName: string, endpoint: { address: string; port: number }) => {
        await lab.cluster.client.of(discovery.EndpointSlice).create({
          metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'by-hand' } },
          addressType: 'IPv4',
          ports: [{ name: portName, protocol: 'TCP', port: endpoint.port }],
          endpoints: [{ addresses: [endpoint.address], conditions: { ready: true } }],
        } as discovery.EndpointSlice);
      };
      await slice('by-hand-1', 'one', { address: a.addresses[0]!, port: 8080 });
      await slice('by-hand-2', 'two', { address: a.addresses[0]!, port: 8081 });
      await lab.run();
      expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual([a.pod.name]);
      expect(await lab.reached(lab.client.pod, { host, port: 81 })).toEqual(['second port']);
      // The same port name with another address, then the same address with another port.
      await slice('by-hand-3', 'one', { address: b.addresses[0]!, port: 8080 });
      await slice('by-hand-4', 'one', { address: a.addresses[0]!, port: 8081 });
      const all = [a.pod.name, b.pod.name, 'second port'].sort();
      await expect.poll(() => lab.reached(lab.client.pod, { host, port: 80 }, 40), POLL).toEqual(all);
    });

    it('internalTrafficPolicy Local: only endpoints of the node, and dropped where it has none', async () => {
      const [host = ''] = await lab.service('inner', { internalTrafficPolicy: 'Local' });
      await lab.endpoints('inner', [...lab.of(0), ...lab.of(1, { nodeName: 'n2' })]);
      await lab.run();
      expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual([lab.pods[0]!.pod.name]);
      await lab.endpoints('inner', lab.of(1, { nodeName: 'n2' }));
      await expect.poll(() => lab.client.pod.reach({ host, port: 80, timeoutMs: 400 }), POLL).toBe('timeout');
      await lab.endpoints('inner', []);
      await expect.poll(() => lab.client.pod.reach({ host, port: 80 }), POLL).toBe('ECONNREFUSED');
    });

    it('endpoints that terminate serve on while no other is ready', async () => {
      const [host = ''] = await lab.service('ending');
      await lab.endpoints('ending', [...lab.of(0, { ready: false, terminating: true }), ...lab.of(1)]);
      await lab.run();
      expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual([lab.pods[1]!.pod.name]);
      await lab.endpoints('ending', lab.of(0, { ready: false, terminating: true }));
      await expect.poll(() => lab.client.pod.reach({ host, port: 80 }), POLL).toBe(lab.pods[0]!.pod.name);
    });

    it('load balancers: TCP and UDP at one address and port, and none of it where the balancer itself passes connections on', async () => {
      const balancer = (ip: string, ipMode: string) => ({ loadBalancer: { ingress: [{ ip, ipMode }] } });
      const spec = {
        type: 'LoadBalancer',
        ports: [80, 80].map((port, i) => ({ name: PROTOCOLS[i], protocol: PROTOCOLS[i]!.toUpperCase(), port })),
      };
      await lab.service('mixed', spec, balancer('198.51.100.9', 'VIP'));
      await lab.service('proxied', spec, balancer('198.51.100.10', 'Proxy'));
      for (const name of ['mixed', 'proxied']) await lab.endpoints(name, lab.both());
      await lab.run();
      for (const protocol of PROTOCOLS) {
        expect(await lab.reached(lab.outside, { host: '198.51.100.9', port: 80, protocol })).toEqual(lab.names);
        expect(await lab.outside.reach({ host: '198.51.100.10', port: 80, protocol, timeoutMs: 400 })).not.toMatch(/-[ab]$/);
      }
    });

    it('healthCheckNodePort: tells load balancers how many endpoints the node has', async () => {
      await lab.service('checked', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
      const port = (await lab.get('checked')).spec!.healthCheckNodePort;
      await lab.endpoints('checked', lab.of(0));
      await lab.run();
      const ask = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
        return { status: answer.status, weight: answer.headers.get('x-load-balancing-endpoint-weight'), body: await answer.json() };
      };
      const service = { namespace: 'default', name: 'checked' };
      // An endpoint counts once per family, since it has one address in each.
      expect(await ask()).toEqual({ status: 200, weight: '2', body: { service, localEndpoints: 2, serviceProxyHealthy: true } });
      await lab.endpoints('checked', lab.of(0, { nodeName: 'n2' }));
      await expect.poll(ask, POLL).toMatchObject({ status: 503, weight: '0', body: { localEndpoints: 0 } });
    });

    it('traffic distribution: endpoints hinted for the zone or the node are taken, all of them when none is', async () => {
      const [host = ''] = await lab.service('near', { trafficDistribution: 'PreferSameZone' });
      const zone = (name: string) => ({ hints: { forZones: [{ name }] } });
      await lab.endpoints('near', [...lab.of(0, zone('here')), ...lab.of(1, zone('there'))]);
      await lab.run();
      expect(await lab.reached(lab.client.pod, { host, port: 80 })).toEqual([lab.pods[0]!.pod.name]);
      await lab.endpoints('near', [...lab.of(0, zone('elsewhere')), ...lab.of(1, zone('there'))]);
      await expect.poll(() => lab.reached(lab.client.pod, { host, port: 80 }), POLL).toEqual(lab.names);
      const node = (name: string) => ({ hints: { forZones: [{ name: 'here' }], forNodes: [{ name }] } });
      await lab.endpoints('near', [...lab.of(0, node('n2')), ...lab.of(1, node('n1'))]);
      await expect.poll(() => lab.reached(lab.client.pod, { host, port: 80 }), POLL).toEqual([lab.pods[1]!.pod.name]);
    });

    it('UDP: a client that goes on from the same port leaves an endpoint that is gone, and one that was refused is served', async () => {
      const hosts = await lab.service('datagrams');
      await lab.endpoints('datagrams', lab.of(0));
      await lab.run();
      for (const [i, host] of hosts.entries()) {
        const ask = () => lab.client.pod.reach({ host, port: 80, protocol: 'udp', localPort: 5_300 + i, timeoutMs: 400 });
        await lab.endpoints('datagrams', lab.of(0));
        await expect.poll(ask, POLL).toBe(lab.pods[0]!.pod.name);
        await lab.endpoints('datagrams', lab.of(1));
        await expect.poll(ask, POLL).toBe(lab.pods[1]!.pod.name);
        await lab.endpoints('datagrams', []);
        await expect.poll(ask, POLL).toBe('ECONNREFUSED');
        await lab.endpoints('datagrams', lab.of(0));
        await expect.poll(ask, POLL).toBe(lab.pods[0]!.pod.name);
      }
    });

    it('nodeport-addresses: node ports are served at these addresses and no others', async () => {
      await lab.service('chosen', { type: 'NodePort' });
      const port = nodePortOf(await lab.get('chosen'));
      await lab.endpoints('chosen', lab.both());
      await lab.run({ nodePortAddresses: ['192.168.72.0/24'] });
      expect(await lab.reached(lab.outside, { host: '192.168.72.1', port })).toEqual(lab.names);
      expect(await lab.outside.reach({ host: NODE_ADDRESSES[0], port })).toBe('ECONNREFUSED');
    });

    it.runIf(mode === 'iptables')(
      'iptables: node ports are served at every local address, and at 127.0.0.1 unless that is off',
      async () => {
        await lab.service('near', { type: 'NodePort' });
        const port = nodePortOf(await lab.get('near'));
        await lab.endpoints('near', lab.both());
        await lab.run();
        expect(await lab.reached(lab.outside, { host: '192.168.72.1', port })).toEqual(lab.names);
        expect(await lab.reached(lab.node.machine, { host: '127.0.0.1', port })).toEqual(lab.names);
        await lab.stopProxy();
        await lab.run({ iptables: { minSyncPeriod: '1ms', localhostNodePorts: false } });
        expect(lab.names).toContain(await lab.outside.reach({ host: NODE_ADDRESSES[0], port }));
        expect(await lab.node.machine.reach({ host: '127.0.0.1', port })).toBe('ECONNREFUSED');
      },
    );

    it('pods told by their interface: others are hidden from endpoints, pods are not', async () => {
      const [host = ''] = await lab.service('interfaces');
      await lab.endpoints('interfaces', lab.of(0));
      await lab.run({ clusterCIDR: '', detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'sampod' } });
      expect(await lab.client.pod.connect({ host, port: 80 })).toMatchObject({ reply: { from: lab.client.addresses[0] } });
      expect(await lab.outside.connect({ host, port: 80 })).not.toMatchObject({ reply: { from: OUTSIDE_ADDRESSES[0] } });
    });

    it('two services with one external address and port: the first by name has it, then the other', async () => {
      const spec = { externalIPs: ['198.51.100.8'] };
      for (const [i, name] of ['first', 'second'].entries()) {
        await lab.service(name, spec);
        await lab.endpoints(name, lab.of(i as 0 | 1));
      }
      await lab.run();
      expect(await lab.reached(lab.outside, { host: '198.51.100.8', port: 80 }, 6)).toEqual([lab.pods[0]!.pod.name]);
      await lab.cluster.client.of(core.Service).delete({ name: 'first', namespace: 'default' });
      await expect.poll(() => lab.outside.reach({ host: '198.51.100.8', port: 80 }), POLL).toBe(lab.pods[1]!.pod.name);
    });

    it('a service with thousands of endpoints works, and so do those beside it', async () => {
      const [many = ''] = await lab.service('many');
      const [beside = ''] = await lab.service('beside');
      // All but two do not exist; those two must be reached once the others are removed. iptables has a chain for each: a thousand take it
      // seconds.
      const parts = mode === 'iptables' ? [''] : ['', '-2', '-3'];
      for (const [k, part] of parts.entries()) {
        const absent = Array.from({ length: 1_000 }, (_, i) => ({ address: `10.${72 + k}.${i >> 8}.${i & 255}`, nodeName: 'n2' }));
        await lab.endpoints('many', absent, part);
      }
      await lab.endpoints('beside', lab.both());
      await lab.run();
      expect(await lab.reached(lab.client.pod, { host: beside, port: 80 })).toEqual(lab.names);
      for (const part of parts) await lab.endpoints('many', part === '' ? lab.both() : [], part);
      await expect.poll(() => lab.reached(lab.client.pod, { host: many, port: 80 }), POLL).toEqual(lab.names);
    });

    it('headless services and external names have no rules', async () => {
      await lab.service('headless', { clusterIP: 'None' });
      await lab.endpoints('headless', [{ address: '10.71.0.77' }]);
      await lab.service('elsewhere', { type: 'ExternalName', externalName: 'example.org', ipFamilyPolicy: undefined, ports: [] });
      await lab.run();
      const ruleset = await lab.node.machine.kernel.run('nft', ['list', 'ruleset']);
      expect(ruleset).not.toContain('10.71.0.77');
    });
  },
);
