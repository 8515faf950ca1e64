import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { GrpcClient, realClock, runProgram, stopAll } from '#base';
import { architectureOf, importArchive, type PrivateContainerd } from '#kubelet';
import { openCgroupTree } from '../../src/kubelet/cgroups/cgroup-tree.ts';
import { busyboxArchive } from '../../src/kubelet/containerd/busybox-archive.test-data.ts';
import { type ContainerdSite, makeContainerdSite } from '../../src/kubelet/containerd/containerd.test-setup.ts';
import { end, type Outcome, PROGRAM, Workplace } from './sampan-process.ts';

export const NODE = 'worker';
/** The node's address, in a network without a route. The API server does not proxy to loopback. */
export const ADDRESS = '198.51.100.2';
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' };

/** A cluster without nodes, a containerd, and everything `sampan kubelet` needs to join as a node. */
export class StandaloneKubelet implements AsyncDisposable {
  #kubelet: ChildProcess | undefined;
  readonly #cgroup: string;

  private constructor(
    readonly at: Workplace,
    readonly site: ContainerdSite,
    public containerd: PrivateContainerd,
  ) {
    this.#cgroup = `sampan-kubelet-${site.netns}`;
  }

  static async open(): Promise<StandaloneKubelet> {
    const at = new Workplace();
    const site = await makeContainerdSite();
    await runProgram('ip', ['-n', site.netns, 'address', 'add', `${ADDRESS}/32`, 'dev', 'lo']);
    const containerd = site.start();
    const self = new StandaloneKubelet(at, site, containerd);
    try {
      await containerd.ready;
      await self.loadBusybox();
      const { code, stderr } = await self.sampan('up', '-d', '--runtime', 'simulated', '--nodes', '0', '--store', 'memory');
      if (code !== 0) throw new Error(stderr);
      return self;
    } catch (error) {
      await self[Symbol.asyncDispose]();
      throw error;
    }
  }

  async loadBusybox(): Promise<void> {
    using containers = new GrpcClient({ endpoint: this.containerd.endpoint, clock: realClock });
    const archive = Readable.from([await busyboxArchive()]);
    await importArchive(containers, archive, { architecture: architectureOf(process.arch)!, now: realClock.now() });
  }

  /** Runs a program in the network of the containers, where the cluster and the runtime's streaming server listen. */
  run(program: string, args: readonly string[], input?: string): Promise<Outcome> {
    return this.at.run('nsenter', [...this.#enter, program, ...args], input);
  }

  sampan(...args: string[]): Promise<Outcome> {
    return this.run(process.execPath, [PROGRAM, ...args]);
  }

  async kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run('kubectl', args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  get #enter(): readonly string[] {
    return [`--net=/run/netns/${this.site.netns}`];
  }

  /** Lets holders of the token request a node certificate, and approves such requests, as kubeadm configures it. */
  async allowBootstrap(): Promise<void> {
    const secret = [`--from-literal=token-id=${TOKEN.id}`, `--from-literal=token-secret=${TOKEN.secret}`];
    const literals = ['--from-literal=usage-bootstrap-authentication=true', '--from-literal=auth-extra-groups=system:bootstrappers:nodes'];
    const type = '--type=bootstrap.kubernetes.io/token';
    await this.kubectl('-n', 'kube-system', 'create', 'secret', 'generic', `bootstrap-token-${TOKEN.id}`, type, ...secret, ...literals);
    const bind = (name: string, role: string, group: string) =>
      this.kubectl('create', 'clusterrolebinding', name, `--clusterrole=${role}`, `--group=${group}`);
    await bind('bootstrap', 'system:node-bootstrapper', 'system:bootstrappers');
    await bind('approve', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient', 'system:bootstrappers');
    await bind('renew', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', 'system:nodes');
    const config = JSON.parse(await this.kubectl('config', 'view', '--raw', '--minify', '-o', 'json')) as {
      clusters: { cluster: Record<string, string> }[];
    };
    const { cluster } = config.clusters[0]!;
    writeFileSync(this.at.path('ca.crt'), Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64'));
    const user = { token: `${TOKEN.id}.${TOKEN.secret}` };
    const bootstrap = {
      ...{ apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user }] },
      ...{ contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' },
    };
    writeFileSync(this.at.path('bootstrap.kubeconfig'), JSON.stringify(bootstrap));
  }

  /** Starts the kubelet with these settings and those that every test needs. */
  start(settings: object = {}, ...flags: string[]): void {
    const configuration = {
      ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
      ...{ cgroupRoot: `/${this.#cgroup}`, evictionHard: {} },
      ...{ containerRuntimeEndpoint: this.containerd.endpoint, podLogsDir: this.at.path('pod-logs') },
      authentication: { x509: { clientCAFile: 'ca.crt' } },
      ...settings,
    };
    mkdirSync(this.at.path('kubelet'), { recursive: true });
    writeFileSync(this.at.path('kubelet.yaml'), JSON.stringify(configuration));
    const identity = ['--kubeconfig', 'kubelet.kubeconfig', '--bootstrap-kubeconfig', 'bootstrap.kubeconfig', '--hostname-override', NODE];
    const own = ['--config', 'kubelet.yaml', '--root-dir', this.at.path('kubelet'), '--node-ip', ADDRESS];
    const kubelet = [process.execPath, PROGRAM, 'kubelet', ...identity, ...own, ...flags];
    this.#kubelet = this.at.start('kubelet', 'nsenter', [...this.#enter, ...kubelet]);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#kubelet !== undefined) await end(this.#kubelet, signal);
  }

  async waitReady(): Promise<void> {
    const ready = () => this.run('kubectl', ['wait', '--for=condition=Ready', `node/${NODE}`, '--timeout=2s']).then(({ code }) => code);
    for (let i = 0; i < 30; i++) if ((await ready()) === 0) return;
    throw new Error(`the node is not ready: ${this.at.log('kubelet')}`);
  }

  /** While there is a kubelet that can unmount them. */
  async #removePods(): Promise<void> {
    if (this.#kubelet === undefined || this.#kubelet.exitCode !== null) return;
    const directory = this.at.path('kubelet/pods');
    for (let i = 0; i < 60; i++) {
      await this.kubectl('delete', 'pods', '--all', '--all-namespaces', '--grace-period=1', '--wait=false').catch(() => {});
      if (!existsSync(directory) || readdirSync(directory).length === 0) return;
      await realClock.sleep(500);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const steps = [
      () => this.#removePods(),
      () => this.stop(),
      () => this.sampan('delete', '--yes'),
      () => this.containerd[Symbol.asyncDispose](),
      () => this.site[Symbol.asyncDispose](),
      () => this.#removeCgroup(),
      () => this.at[Symbol.asyncDispose](),
    ];
    const close = (step: () => PromiseLike<unknown>) => ({ [Symbol.asyncDispose]: async () => void (await step()) });
    await stopAll(steps.map(close).reverse());
  }

  async #removeCgroup(): Promise<void> {
    const tree = await openCgroupTree();
    await tree.kill(this.#cgroup);
    await tree.remove(this.#cgroup).catch(() => {});
  }
}
