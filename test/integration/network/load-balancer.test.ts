import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { type Component, realClock, silentLogger, systemRandom } from '#base';
import { startAddressAnnouncer, startLocalLoadBalancer } from '#cloud';
import { namespacesProblem } from './machines.ts';
import { ServiceLab } from './service-lab.ts';

const problem = namespacesProblem();
if (problem) console.warn(`load balancers are not tested on packets: ${problem}`);

const POLL = { timeout: 20_000, interval: 50 };
const RANGES = ['192.168.71.240/28', 'fd07::240/124'];

describe.skipIf(problem !== undefined)('load balancers with addresses of the local network', () => {
  let lab: ServiceLab;
  const parts: Component[] = [];
  beforeEach(async () => {
    lab = await ServiceLab.create('nftables');
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
    await lab.cluster.client
      .of(core.Node)
      .patch({ name: 'n1' }, { status: { conditions: [ready] } }, { type: 'strategic', subresource: 'status' });
    await lab.run();
  }, 60_000);
  afterEach(async () => {
    for (const part of parts.splice(0)) await part[Symbol.asyncDispose]();
    await lab[Symbol.asyncDispose]();
  });

  const deps = () => ({
    client: lab.cluster.client,
    clock: realClock,
    random: systemRandom,
    logger: silentLogger,
    kernel: lab.node.machine.kernel,
  });
  async function announce(): Promise<Component> {
    const announcer = startAddressAnnouncer({ nodeName: 'n1', ranges: RANGES }, deps());
    await announcer.ready;
    return announcer;
  }

  it('are found by neighbours without a route, in both families, until the service is gone', async () => {
    parts.push(startLocalLoadBalancer({ ranges: RANGES }, { ...deps(), listeningPorts: () => new Set() }), await announce());
    await lab.service('front', { type: 'LoadBalancer' });
    await lab.endpoints('front', lab.both());
    const hosts = ['192.168.71.240', 'fd07::240'];
    const assigned = async () => (await lab.get('front')).status?.loadBalancer?.ingress?.map(({ ip }) => ip);
    await expect.poll(assigned, POLL).toEqual(hosts);
    for (const host of hosts) {
      await expect.poll(() => lab.outside.reach({ host, port: 80 }), POLL).toMatch(/-[ab]$/);
      expect(await lab.reached(lab.outside, { host, port: 80 })).toEqual(lab.names);
      // Other ports do not reach programs of the machine.
      await lab.node.machine.listen(9_000 + hosts.indexOf(host));
      expect(await lab.outside.reach({ host, port: 9_000 + hosts.indexOf(host) })).not.toBe(lab.node.machine.name);
    }
    await lab.cluster.client.of(core.Service).delete({ name: 'front', namespace: 'default' });
    const proxied = async () => lab.node.machine.kernel.run('ip', ['neigh', 'show', 'proxy']);
    await expect.poll(proxied, POLL).toBe('');
    const bridges = () => lab.node.machine.kernel.run('ip', ['-o', 'link', 'show', 'type', 'bridge']);
    await expect.poll(bridges, POLL).not.toContain('sampan-lb');
  });

  it('leave the machine as it was when the announcer stops, and are taken over from one that was killed', async () => {
    const { kernel } = lab.node.machine;
    const settings = () =>
      Promise.all(['net.ipv4.neigh.eth0.proxy_delay', 'net.ipv6.conf.eth0.proxy_ndp'].map((name) => kernel.readSysctl(name)));
    const before = await settings();
    // What a killed announcer leaves behind.
    await kernel.ip([
      ['link', 'add', 'sampan-lb', 'type', 'bridge'],
      ['link', 'set', 'sampan-lb', 'addrgenmode', 'none', 'up'],
      ['route', 'add', '192.168.71.250/32', 'dev', 'sampan-lb'],
      ['neigh', 'add', 'proxy', '192.168.71.250', 'dev', 'eth0'],
      ['neigh', 'add', 'proxy', '192.168.71.99', 'dev', 'eth0'],
    ]);
    await lab.service('front', { type: 'LoadBalancer' }, { loadBalancer: { ingress: [{ ip: '192.168.71.241' }, { ip: 'fd07::241' }] } });
    const announcer = await announce();
    const proxied = async () =>
      (await kernel.run('ip', ['neigh', 'show', 'proxy']))
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0])
        .sort();
    // Entries of other programs stay.
    expect(await proxied()).toEqual(['192.168.71.241', '192.168.71.99', 'fd07::241']);
    await announcer[Symbol.asyncDispose]();
    expect(await proxied()).toEqual(['192.168.71.99']);
    expect(await settings()).toEqual(before);
  });
});
