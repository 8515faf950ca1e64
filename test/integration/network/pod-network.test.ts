import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { realClock, runProgram, silentLogger, systemRandom } from '#base';
import { startNetworkAgent } from '#network';
import { startCluster, type TestCluster } from '#testing';
import { Lab, namespacesProblem, sctpProblem } from './machines.ts';
import { NodeMachine, runPlugin } from './node-machine.ts';

const problem = namespacesProblem();
if (problem) console.warn(`the pod network is not tested: ${problem}`);

describe.skipIf(problem !== undefined)('the pod network of one machine', () => {
  let cluster: TestCluster;
  let lab: Lab;
  let node: NodeMachine;
  beforeEach(async () => {
    cluster = await startCluster({ nodes: 0, controllers: [] });
    lab = await Lab.create();
    const machine = await lab.namespace('n1');
    node = new NodeMachine('n1', machine, { lab, client: cluster.client }, { removeOnStop: true });
  });
  afterEach(async () => {
    await node.stop();
    await lab[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it('connects pods with each other, with the node and with themselves, in both families', async () => {
    await node.register(['10.71.0.0/24', 'fd71::/64'], ['192.168.71.1']);
    await node.start();
    const [a, b] = [await node.pod('a'), await node.pod('b')];
    expect(a.addresses).toEqual(['10.71.0.2', 'fd71::2']);
    await b.pod.listen(8080);
    await node.machine.listen(9090);
    // Addresses are not usable during duplicate address detection.
    for (const { kernel } of [a.pod, b.pod, node.machine]) expect(await kernel.run('ip', ['-6', 'addr', 'show', 'tentative'])).toBe('');
    for (const host of b.addresses) {
      await b.pod.listen(8081, { protocol: 'udp', host });
      for (const from of [a.pod, node.machine]) expect(await from.reach({ host, port: 8081, protocol: 'udp' })).toBe(b.pod.name);
      expect(await a.pod.connect({ host, port: 8080 })).toEqual({
        reply: { name: b.pod.name, from: host.includes(':') ? 'fd71::2' : '10.71.0.2' },
      });
      expect(await b.pod.reach({ host, port: 8080 })).toBe(b.pod.name);
      expect(await node.machine.reach({ host, port: 8080 })).toBe(b.pod.name);
    }
    for (const host of ['10.71.0.1', 'fd71::1']) expect(await a.pod.reach({ host, port: 9090 })).toBe(node.machine.name);
    expect(await a.pod.reach({ host: '127.0.0.1', port: 1 })).toBe('ECONNREFUSED');
  });

  it('marks the network of the node as available', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    await expect
      .poll(async () => {
        const { status } = await cluster.client.of(core.Node).get({ name: 'n1' });
        return status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status;
      })
      .toBe('False');
  });

  it('repeats an ADD, checks a pod, and frees its address with DEL, also twice', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const { pod, id, addresses } = await node.pod('a');
    const again = await node.cni('ADD', id, { netns: pod.path });
    expect(again.result.ips).toMatchObject([{ address: `${addresses[0]}/32` }]);
    expect(await node.cni('CHECK', id, { netns: pod.path })).toEqual({ exitCode: 0, result: {} });
    await pod.kernel.ip([['addr', 'del', `${addresses[0]}/32`, 'dev', 'eth0']]);
    expect(await node.cni('CHECK', id, { netns: pod.path })).toMatchObject({ exitCode: 1, result: { code: 100 } });
    for (const _ of [1, 2]) expect(await node.cni('DEL', id, { netns: pod.path })).toEqual({ exitCode: 0, result: {} });
    expect(await node.cni('CHECK', id, { netns: pod.path })).toMatchObject({ exitCode: 1, result: { code: 3 } });
    expect(await readdir(path.join(node.config.stateDirectory, 'attachments'))).toEqual([]);
    expect(await node.machine.kernel.run('ip', ['-o', 'link', 'show', 'type', 'veth'])).toBe('');
  });

  it('answers VERSION and STATUS, and GC takes the network from pods that the runtime does not have', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    expect(await node.cni('VERSION', '')).toMatchObject({
      exitCode: 0,
      result: { supportedVersions: ['0.3.1', '0.4.0', '1.0.0', '1.1.0'] },
    });
    expect(await node.cni('STATUS', '', { cniVersion: '1.1.0' })).toEqual({ exitCode: 0, result: {} });
    const [kept, gone] = [await node.pod('kept'), await node.pod('gone')];
    const config = {
      ...{ cniVersion: '1.1.0', name: 'sampan', type: 'sampan-cni' },
      'cni.dev/valid-attachments': [{ containerID: kept.id, ifname: 'eth0' }],
    };
    const plugin = path.join(node.config.binDirectory, 'sampan-cni');
    expect(await runPlugin(plugin, { CNI_COMMAND: 'GC', CNI_PATH: node.config.binDirectory }, JSON.stringify(config))).toMatchObject({
      exitCode: 0,
    });
    expect(await node.cni('CHECK', kept.id, { netns: kept.pod.path })).toEqual({ exitCode: 0, result: {} });
    expect(await node.cni('CHECK', gone.id, { netns: gone.pod.path })).toMatchObject({ exitCode: 1, result: { code: 3 } });
  });

  it.each([
    ['nothing', '', 6],
    ['bytes', '\u0000\u0001{"', 6],
    ['a list', '[]', 6],
    ['a version of the future', '{"cniVersion":"9.9.9","name":"sampan","type":"sampan-cni"}', 1],
  ])('answers a plugin whose input is %s by an error, and goes on', async (_name, input, code) => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const env = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c', CNI_NETNS: '/run/netns/none', CNI_IFNAME: 'eth0' };
    const answer = await runPlugin(path.join(node.config.binDirectory, 'sampan-cni'), env, input);
    expect(answer).toMatchObject({ exitCode: 1, result: { code } });
    expect((await node.pod('a')).addresses).toEqual(['10.71.0.2']);
  });

  it('says by STATUS that it cannot work while the range of the node has no room for a pod', async () => {
    await node.register(['10.71.0.0/31'], ['192.168.71.1']);
    const deps = { client: cluster.client, clock: realClock, random: systemRandom, logger: silentLogger, kernel: node.machine.kernel };
    await using agent = startNetworkAgent(node.config, deps);
    await agent.ready;
    expect(await node.cni('STATUS', '', { cniVersion: '1.1.0' })).toMatchObject({ exitCode: 1, result: { code: 50 } });
  });

  it.skipIf(sctpProblem() !== undefined)('reaches a pod by a host port of SCTP', async () => {
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine: node.machine, device: 'eth0', addresses: ['192.168.71.1/24'] },
      { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24'] },
    ]);
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const { pod } = await node.pod('a', { runtimeConfig: { portMappings: [{ protocol: 'sctp', hostPort: 80, containerPort: 8080 }] } });
    await pod.listenSctp(4, 8080);
    expect(await outside.reachSctp({ host: '192.168.71.1', port: 80 })).toBe(pod.name);
  });

  it('reaches a pod by its host port from outside, from the node, from loopback and from the pod itself', async () => {
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine: node.machine, device: 'eth0', addresses: ['192.168.71.1/24'] },
      { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24'] },
    ]);
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const mapping = (protocol: string, hostPort: number, hostIP = '') => ({ protocol, hostPort, containerPort: 8080, hostIP });
    const portMappings = [mapping('tcp', 80), mapping('udp', 80), mapping('tcp', 81, '127.0.0.1')];
    const { pod } = await node.pod('a', { runtimeConfig: { portMappings } });
    await pod.listen(8080);
    await pod.listen(8080, { protocol: 'udp', host: '0.0.0.0' });
    for (const protocol of ['tcp', 'udp'] as const) {
      expect(await outside.reach({ host: '192.168.71.1', port: 80, protocol })).toBe(pod.name);
      expect(await node.machine.reach({ host: '192.168.71.1', port: 80, protocol })).toBe(pod.name);
      expect(await pod.reach({ host: '192.168.71.1', port: 80, protocol })).toBe(pod.name);
    }
    expect(await node.machine.reach({ host: '127.0.0.1', port: 80 })).toBe(pod.name);
    expect(await node.machine.reach({ host: '127.0.0.1', port: 81 })).toBe(pod.name);
    expect(await outside.reach({ host: '192.168.71.1', port: 81 })).toBe('ECONNREFUSED');
  });

  it('lets pods share a host port at different addresses and protocols', async () => {
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine: node.machine, device: 'eth0', addresses: ['192.168.71.1/24', '192.168.71.2/24'] },
      { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24'] },
    ]);
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const mappings = [
      ['192.168.71.1', 'tcp'],
      ['192.168.71.2', 'tcp'],
      ['192.168.71.2', 'udp'],
    ] as const;
    for (const [i, [hostIP, protocol]] of mappings.entries()) {
      const portMappings = [{ protocol, hostPort: 54_321, containerPort: 8080, hostIP }];
      const { pod } = await node.pod(`p${i}`, { runtimeConfig: { portMappings } });
      await pod.listen(8080, { protocol, host: '0.0.0.0' });
    }
    for (const [i, [host, protocol]] of mappings.entries())
      expect(await outside.reach({ host, port: 54_321, protocol })).toMatch(new RegExp(`-p${i}$`));
  });

  it('hides pods behind the node for whoever is outside of the cluster, in both families', async () => {
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine: node.machine, device: 'eth0', addresses: ['192.168.71.1/24', 'fd07::1/64'] },
      { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24', 'fd07::9/64'] },
    ]);
    await node.register(['10.71.0.0/24', 'fd71::/64'], ['192.168.71.1', 'fd07::1']);
    await node.start();
    const { pod } = await node.pod('a');
    await outside.listen(8080);
    for (const [host, from] of [
      ['192.168.71.9', '192.168.71.1'],
      ['fd07::9', 'fd07::1'],
    ] as const)
      expect(await pod.connect({ host, port: 8080 })).toEqual({ reply: { name: outside.name, from } });
  });

  it('gives pods the MTU that it is told, and reaches them by host ports of IPv6', async () => {
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine: node.machine, device: 'eth0', addresses: ['192.168.71.1/24', 'fd07::1/64'] },
      { machine: outside, device: 'eth0', addresses: ['192.168.71.9/24', 'fd07::9/64'] },
    ]);
    node = new NodeMachine('n1', node.machine, { lab, client: cluster.client }, { removeOnStop: true, mtu: 1400 });
    await node.register(['10.71.0.0/24', 'fd71::/64'], ['192.168.71.1', 'fd07::1']);
    await node.start();
    const portMappings = (['tcp', 'udp'] as const).map((protocol) => ({ protocol, hostPort: 80, containerPort: 8080 }));
    const { pod } = await node.pod('a', { runtimeConfig: { portMappings } });
    expect(await pod.kernel.run('ip', ['-o', 'link', 'show', 'eth0'])).toContain('mtu 1400');
    await pod.listen(8080);
    await pod.listen(8080, { protocol: 'udp', host: '::' });
    for (const protocol of ['tcp', 'udp'] as const)
      for (const from of [outside, node.machine, pod]) expect(await from.reach({ host: 'fd07::1', port: 80, protocol })).toBe(pod.name);
  });

  it('drops what a pod sends under an address that is not its own', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const [a, b] = [await node.pod('a'), await node.pod('b')];
    await b.pod.listen(8080);
    await a.pod.kernel.ip([
      ['addr', 'add', '10.71.0.99/32', 'dev', 'eth0'],
      ['route', 'replace', 'default', 'via', '10.71.0.1', 'dev', 'eth0', 'src', '10.71.0.99'],
    ]);
    expect(await a.pod.reach({ host: b.addresses[0]!, port: 8080, timeoutMs: 300 })).toBe('timeout');
  });

  it('keeps connections and addresses when the agent is replaced, and frees those of pods that are gone', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const [a, b] = [await node.pod('a'), await node.pod('b')];
    const removedNamespace = await lab.namespace('gone');
    await runProgram('ip', ['netns', 'add', `${removedNamespace.name}-x`]);
    await node.cni('ADD', 'gone', { netns: `/run/netns/${removedNamespace.name}-x` });
    await b.pod.listen(8080);
    await a.pod.open('k', { host: b.addresses[0]!, port: 8080 });
    await node.stop();
    await runProgram('ip', ['netns', 'del', `${removedNamespace.name}-x`]);
    // A clean stop removes everything from the machine except the interfaces of running pods.
    expect(await node.machine.kernel.run('nft', ['list', 'ruleset'])).toBe('');
    await node.start();
    expect(await a.pod.echo('k', 'still there')).toBe('still there');
    const c = await node.pod('c');
    expect(new Set([...a.addresses, ...b.addresses, ...c.addresses]).size).toBe(3);
    const attachments = await readdir(path.join(node.config.stateDirectory, 'attachments'));
    expect(attachments.length).toBe(3);
  });

  it('answers a plugin that was started while the agent was away', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const plugin = await readFile(path.join(node.config.binDirectory, 'sampan-cni'));
    await node.stop();
    const file = path.join(lab.directory, 'plugin');
    await writeFile(file, plugin);
    await chmod(file, 0o755);
    const pod = await lab.namespace('late');
    const config = JSON.stringify({ cniVersion: '1.1.0', name: 'sampan', type: 'sampan-cni' });
    const adding = runPlugin(file, { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'late', CNI_NETNS: pod.path, CNI_IFNAME: 'eth0' }, config);
    await node.start();
    expect(await adding).toMatchObject({ exitCode: 0, result: { cniVersion: '1.1.0', ips: [{ address: '10.71.0.2/32' }] } });
  });

  it('shapes traffic as the bandwidth of the pod says', async () => {
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    await node.start();
    const bandwidth = { ingressRate: 8_000_000, ingressBurst: 2 ** 31 - 1, egressRate: 16_000_000, egressBurst: 2 ** 31 - 1 };
    const { pod } = await node.pod('a', { runtimeConfig: { bandwidth } });
    expect(await pod.kernel.run('tc', ['qdisc', 'show', 'dev', 'eth0'])).toContain('rate 16Mbit');
    expect(await node.machine.kernel.run('tc', ['qdisc', 'show'])).toContain('rate 8Mbit');
  });

  it('leaves the machine alone where another network configuration is installed', async () => {
    await mkdir(node.config.configDirectory, { recursive: true });
    await writeFile(path.join(node.config.configDirectory, '05-other.conflist'), '{}');
    await node.register(['10.71.0.0/24'], ['192.168.71.1']);
    const deps = { client: cluster.client, clock: realClock, random: systemRandom, logger: silentLogger, kernel: node.machine.kernel };
    await using agent = startNetworkAgent(node.config, deps);
    await agent.ready;
    expect(await readdir(node.config.configDirectory)).toEqual(['05-other.conflist']);
    expect(await node.machine.kernel.run('nft', ['list', 'ruleset'])).toBe('');
  });
});
