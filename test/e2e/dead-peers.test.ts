import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Namespace, namespacesProblem } from '../integration/network/machines.ts';
import { PROGRAM, Workplace } from './sampan-process.ts';

const NODE = 'far';
/** The node's address: the API server does not proxy to loopback. */
const ADDRESS = '198.51.100.2';
const API = 6443;
const KUBELET = 10_250;
/** TCP alone takes a quarter of an hour to give up on a peer that does not acknowledge. */
const LIMIT_MS = 180_000;
const SPDY = ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false', 'KUBECTL_PORT_FORWARD_WEBSOCKETS=false'];
const HTTP1 = ['GODEBUG=http2client=0', 'DISABLE_HTTP2=1'];
const FLOOD = ['head', '-c', '1000000000000', '/dev/zero'];

/** A client's open streams of every kind, by name. */
const STREAMS: Readonly<Record<string, readonly string[]>> = {
  'exec-websocket': ['kubectl', 'exec', 'web', '--', 'sleep', '100000'],
  'exec-spdy': [...SPDY, 'kubectl', 'exec', 'web', '--', 'sleep', '100000'],
  'output-websocket': ['kubectl', 'exec', 'web', '--', ...FLOOD],
  'output-spdy': [...SPDY, 'kubectl', 'exec', 'web', '--', ...FLOOD],
  'attach-websocket': ['kubectl', 'attach', 'web'],
  'attach-spdy': [...SPDY, 'kubectl', 'attach', 'web'],
  'forward-websocket': ['kubectl', 'port-forward', 'pod/web', ':80'],
  'forward-spdy': [...SPDY, 'kubectl', 'port-forward', 'pod/web', ':80'],
  logs: ['kubectl', 'logs', '-f', 'web'],
};
const WATCHES: Readonly<Record<string, readonly string[]>> = {
  'watch-http2': ['kubectl', 'get', 'configmaps', '-w'],
  'watch-http1': [...HTTP1, 'kubectl', 'get', 'configmaps', '-w'],
};

interface Connection {
  readonly local: number;
  readonly peer: number;
  readonly pid: number;
}

/** A cluster, a kubelet and clients in one network, each in its own process. */
class Site implements AsyncDisposable {
  readonly at = new Workplace();

  private constructor(readonly network: Namespace) {}

  static async open(): Promise<Site> {
    const site = new Site(await Namespace.create(`sampan-dead-${process.pid}`));
    await site.network.kernel.ip([['address', 'add', `${ADDRESS}/32`, 'dev', 'lo']]);
    // Small buffers, so that a flood of data fills all of them before the network is cut.
    await site.network.kernel.sysctl({ 'net.ipv4.tcp_wmem': '4096 65536 65536', 'net.ipv4.tcp_rmem': '4096 65536 65536' });
    await site.succeed(
      process.execPath,
      PROGRAM,
      'up',
      '-d',
      '--runtime',
      'simulated',
      '--nodes',
      '0',
      '--store',
      'memory',
      '--port',
      `${API}`,
    );
    site.#startKubelet();
    await site.succeed('kubectl', 'run', 'web', '--image=web:1', '--port=80');
    await site.succeed('kubectl', 'wait', '--for=condition=Ready', 'pod/web', '--timeout=25s');
    return site;
  }

  #startKubelet(): void {
    mkdirSync(this.at.path('kubelet'));
    const kubeconfig = readFileSync(this.at.path('.kube/config'), 'utf8');
    const authority = /certificate-authority-data: (?<data>\S+)/.exec(kubeconfig)?.groups?.data ?? '';
    writeFileSync(this.at.path('ca.crt'), Buffer.from(authority, 'base64'));
    const configuration = {
      ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', port: KUBELET },
      authentication: { x509: { clientCAFile: this.at.path('ca.crt') } },
      authorization: { mode: 'AlwaysAllow' },
    };
    writeFileSync(this.at.path('kubelet.yaml'), JSON.stringify(configuration));
    const args = [
      '--kubeconfig',
      this.at.path('.kube/config'),
      '--config',
      this.at.path('kubelet.yaml'),
      '--root-dir',
      this.at.path('kubelet'),
    ];
    this.start('kubelet', process.execPath, PROGRAM, 'kubelet', ...args, '--hostname-override', NODE, '--node-ip', ADDRESS);
  }

  async succeed(...command: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.at.run('nsenter', [`--net=${this.network.path}`, 'env', ...command]);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
    return stdout;
  }

  start(name: string, ...command: string[]): ChildProcess {
    return this.at.start(name, 'nsenter', [`--net=${this.network.path}`, 'env', ...command]);
  }

  /** The established connections to a server port, from the clients' side. */
  async connectionsTo(port: number): Promise<readonly Connection[]> {
    const lines = (await this.network.kernel.run('ss', ['-Htnp', 'state', 'established', `( dport = :${port} )`])).split('\n');
    return lines.filter(Boolean).map((line) => {
      const [, , local = '', peer = '', owner = ''] = line.trim().split(/\s+/);
      return { local: portOf(local), peer: portOf(peer), pid: Number(/pid=(?<pid>\d+)/.exec(owner)?.groups?.pid) };
    });
  }

  /** The client ports of connections to a server port, in any state but listening. */
  async servedBy(port: number): Promise<readonly number[]> {
    const lines = (await this.network.kernel.run('ss', ['-Htn', 'state', 'established', `( sport = :${port} )`])).split('\n');
    return lines.filter(Boolean).map((line) => portOf(line.trim().split(/\s+/)[3] ?? ''));
  }

  /** From now on all packets of these connections are dropped, in both directions. */
  async drop(clientPorts: readonly number[]): Promise<void> {
    const ports = `{ ${clientPorts.join(', ')} }`;
    const rules = `tcp sport ${ports} drop\ntcp dport ${ports} drop\n`;
    await this.network.kernel.nft(`table inet cut {\nchain input { type filter hook input priority 0;\n${rules}}\n}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network.kernel.run('nft', ['flush', 'ruleset']);
    await this.at.run('nsenter', [`--net=${this.network.path}`, process.execPath, PROGRAM, 'delete', '--yes']);
    await this.at[Symbol.asyncDispose]();
    await this.network[Symbol.asyncDispose]();
  }
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

const problem = namespacesProblem();
let site: Site;
beforeAll(async () => {
  if (problem === undefined) site = await Site.open();
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** Starts the streams and waits until each is connected on every hop. */
async function openStreams(prefix: string, streams: Readonly<Record<string, readonly string[]>>): Promise<readonly ChildProcess[]> {
  const [before, kubeletBefore] = [(await site.servedBy(API)).length, (await site.servedBy(KUBELET)).length];
  const names = Object.keys(streams);
  const children = names.map((name) => site.start(`${prefix}-${name}`, ...streams[name]!));
  const toKubelet = names.filter((name) => !name.startsWith('watch')).length;
  await expect.poll(async () => (await site.servedBy(API)).length - before, { timeout: 60_000 }).toBeGreaterThanOrEqual(names.length);
  await expect
    .poll(async () => (await site.servedBy(KUBELET)).length - kubeletBefore, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(toKubelet);
  return children;
}

test.skipIf(problem)(
  'streams end on every hop when packets of a client or of a kubelet no longer arrive',
  { timeout: 400_000 },
  async () => {
    // The kubelet's side first, so that its connections can be told apart.
    await openStreams('k', STREAMS);
    const kubeletPorts = await site.servedBy(KUBELET);
    const others = new Set(await site.servedBy(API));
    await openStreams('c', { ...STREAMS, ...WATCHES });
    const clientPorts = (await site.servedBy(API)).filter((port) => !others.has(port));
    const relayedPorts = (await site.servedBy(KUBELET)).filter((port) => !kubeletPorts.includes(port));
    await site.drop([...kubeletPorts, ...clientPorts]);
    // An event for the watches, which they never acknowledge.
    await site.succeed('kubectl', 'create', 'configmap', 'news', '--from-literal=a=b');
    const remaining = async () => ({
      clients: (await site.servedBy(API)).filter((port) => clientPorts.includes(port)).length,
      relayed: (await site.servedBy(KUBELET)).filter((port) => relayedPorts.includes(port)).length,
      kubelet: (await site.servedBy(KUBELET)).filter((port) => kubeletPorts.includes(port)).length,
      toKubelet: (await site.connectionsTo(KUBELET)).filter(({ local }) => kubeletPorts.includes(local)).length,
    });
    await expect.poll(remaining, { timeout: LIMIT_MS, interval: 1000 }).toEqual({ clients: 0, relayed: 0, kubelet: 0, toKubelet: 0 });
  },
);
