import { existsSync } from 'node:fs';
import path from 'node:path';
import { startCluster } from '#testing';
import { Lab } from '../integration/network/machines.ts';
import { NodeMachine } from '../integration/network/node-machine.ts';

const PODS = 15;
const DEBIAN = '/usr/lib/cni';
export const hasDebianBridge = existsSync(path.join(DEBIAN, 'bridge'));

/** Milliseconds from the start of our plugin to its response, while other pods exist: address, interface, routes, policies. */
export async function sampanAdd(): Promise<number> {
  await using cluster = await startCluster({ nodes: 0, controllers: [] });
  await using lab = await Lab.create();
  const machine = await lab.namespace('n1');
  await using node = new NodeMachine('n1', machine, { lab, client: cluster.client }, { removeOnStop: true });
  await node.register(['10.71.0.0/24'], ['192.168.71.1']);
  await node.start();
  return await median(lab, async (netns, i) => {
    const args = { K8S_POD_NAMESPACE: 'default', K8S_POD_NAME: `p${i}` };
    const { exitCode, result } = await node.cni('ADD', `c${i}`, { netns, args });
    if (exitCode !== 0) throw new Error(JSON.stringify(result));
  });
}

/** The same with Debian's bridge plugin and host-local addresses. */
export async function debianAdd(): Promise<number> {
  await using lab = await Lab.create();
  const machine = await lab.namespace('n1');
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: '10.72.0.0/24' }]],
    dataDir: path.join(lab.directory, 'ipam'),
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const config = {
    cniVersion: '1.0.0',
    name: 'bench',
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam,
  };
  return await median(lab, async (netns, i) => {
    const env = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: `c${i}`, CNI_NETNS: netns, CNI_IFNAME: 'eth0', CNI_PATH: DEBIAN };
    const variables = Object.entries({ ...env, PATH: process.env.PATH ?? '' }).map(([name, value]) => `${name}=${value}`);
    await machine.kernel.run('env', ['-i', ...variables, path.join(DEBIAN, 'bridge')], { input: JSON.stringify(config) });
  });
}

async function median(lab: Lab, add: (netns: string, i: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < PODS; i++) {
    const pod = await lab.namespace(`p${i}`);
    const started = performance.now();
    await add(pod.path, i);
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[PODS >> 1]!;
}
