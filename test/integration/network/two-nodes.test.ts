import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCluster, type TestCluster } from '#testing';
import { Lab, type Namespace, namespacesProblem } from './machines.ts';
import { NodeMachine } from './node-machine.ts';

const problem = namespacesProblem();
if (problem) console.warn(`pods of several machines are not tested: ${problem}`);

describe.skipIf(problem !== undefined)('pods of two machines', () => {
  let cluster: TestCluster;
  let lab: Lab;
  const nodes: NodeMachine[] = [];
  beforeEach(async () => {
    cluster = await startCluster({ nodes: 0, controllers: [] });
    lab = await Lab.create();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop();
    await lab[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  async function start(machines: readonly Namespace[], addresses: readonly string[]): Promise<void> {
    for (const [i, machine] of machines.entries()) {
      const node = new NodeMachine(`n${i}`, machine, { lab, client: cluster.client }, { removeOnStop: true });
      await node.register([`10.7${i}.0.0/24`, `fd7${i}::/64`], [addresses[i]!, ...(addresses[i + 2] ? [addresses[i + 2]!] : [])]);
      nodes.push(node);
    }
    await Promise.all(nodes.map((node) => node.start()));
  }
  async function reachEachOther(families: readonly number[]): Promise<void> {
    const [a, b] = [await nodes[0]!.pod('a'), await nodes[1]!.pod('b')];
    for (const { pod } of [a, b]) await pod.listen(8080);
    for (const { machine } of nodes) expect(await machine.kernel.run('ip', ['-6', 'addr', 'show', 'tentative'])).toBe('');
    for (const family of families) {
      const from = a.addresses[family]!;
      expect(await a.pod.connect({ host: b.addresses[family]!, port: 8080, timeoutMs: 10_000 })).toEqual({
        reply: { name: b.pod.name, from },
      });
      expect(await b.pod.reach({ host: from, port: 8080 })).toBe(a.pod.name);
      expect(await nodes[0]!.machine.reach({ host: b.addresses[family]!, port: 8080 })).toBe(b.pod.name);
    }
  }

  it('reach each other by routes where the machines share a link, under their own addresses', async () => {
    const machines = [await lab.namespace('n0'), await lab.namespace('n1')];
    await lab.link(machines.map((machine, i) => ({ machine, device: 'eth0', addresses: [`192.168.7.${i + 1}/24`, `fd07::${i + 1}/64`] })));
    await start(machines, ['192.168.7.1', '192.168.7.2', 'fd07::1', 'fd07::2']);
    await reachEachOther([0, 1]);
    expect(await machines[0]!.kernel.run('ip', ['-o', 'link', 'show', 'type', 'vxlan'])).toBe('');
  });

  it('reach each other through a tunnel where a router is between the machines', async () => {
    const machines = [await lab.namespace('n0'), await lab.namespace('n1')];
    const router = await lab.namespace('router');
    for (const [i, machine] of machines.entries()) {
      await lab.link([
        { machine, device: 'eth0', addresses: [`192.168.${i}.1/24`] },
        { machine: router, device: `eth${i}`, addresses: [`192.168.${i}.254/24`] },
      ]);
      await machine.kernel.ip([['route', 'add', 'default', 'via', `192.168.${i}.254`]]);
    }
    await router.kernel.sysctl({ 'net.ipv4.ip_forward': '1' });
    await start(machines, ['192.168.0.1', '192.168.1.1']);
    await reachEachOther([0, 1]);
    const { pod } = await nodes[0]!.pod('late');
    expect(await pod.kernel.run('ip', ['-o', 'link', 'show', 'eth0'])).toContain('mtu 1450');
    await nodes[0]!.stop();
    expect(await machines[0]!.kernel.run('ip', ['-o', 'link', 'show', 'type', 'vxlan'])).toBe('');
  });
});
