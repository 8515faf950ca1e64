import { core, discovery } from '#api';
import { createLogger, realClock, systemRandom } from '#base';
import { type KubeProxy, type ProxyMode, readProxyConfiguration, startProxy } from '#proxy';
import { startCluster, type TestCluster } from '#testing';
import { Lab, type Namespace, type Target } from './machines.ts';
import { NodeMachine } from './node-machine.ts';

export interface LabPod {
  readonly pod: Namespace;
  /** One of each family. */
  readonly addresses: readonly string[];
}

export interface LabEndpoint {
  readonly address: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly nodeName?: string;
  readonly hints?: object;
}

export const NODE_ADDRESSES = ['192.168.71.1', 'fd07::1'] as const;
export const OUTSIDE_ADDRESSES = ['192.168.71.9', 'fd07::9'] as const;
const PORTS = (['TCP', 'UDP', 'SCTP'] as const).map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 80, targetPort: 8080 }));

/**
 * A dual-stack machine with a proxy, two server pods, a client pod, and a neighbour outside of the cluster, which routes cluster addresses
 * and 198.51.100.0/24 to the machine.
 */
export class ServiceLab implements AsyncDisposable {
  proxy: KubeProxy | undefined;
  readonly warnings: string[] = [];

  private constructor(
    readonly mode: ProxyMode,
    private readonly place: { readonly cluster: TestCluster; readonly lab: Lab },
    private readonly parts: {
      readonly node: NodeMachine;
      readonly outside: Namespace;
      readonly pods: readonly LabPod[];
      readonly client: LabPod;
    },
  ) {}

  get cluster(): TestCluster {
    return this.place.cluster;
  }

  get node(): NodeMachine {
    return this.parts.node;
  }

  get outside(): Namespace {
    return this.parts.outside;
  }

  get pods(): readonly LabPod[] {
    return this.parts.pods;
  }

  get client(): LabPod {
    return this.parts.client;
  }

  static async create(mode: ProxyMode): Promise<ServiceLab> {
    const cluster = await startCluster({ nodes: 0, controllers: [], serviceRanges: ['10.96.0.0/16', 'fd96::/108'] });
    const lab = await Lab.create();
    try {
      return new ServiceLab(mode, { cluster, lab }, await ServiceLab.#build(cluster, lab));
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  static async #build(cluster: TestCluster, lab: Lab): Promise<ServiceLab['parts']> {
    const machine = await lab.namespace('n1');
    const outside = await lab.namespace('outside');
    await lab.link([
      { machine, device: 'eth0', addresses: NODE_ADDRESSES.map((address) => `${address}/${address.includes(':') ? 64 : 24}`) },
      { machine: outside, device: 'eth0', addresses: OUTSIDE_ADDRESSES.map((address) => `${address}/${address.includes(':') ? 64 : 24}`) },
    ]);
    await machine.kernel.ip([
      ['route', 'add', 'default', 'via', OUTSIDE_ADDRESSES[0]],
      ['route', 'add', 'default', 'via', OUTSIDE_ADDRESSES[1]],
      ['addr', 'add', '192.168.72.1/24', 'dev', 'eth0'],
    ]);
    await outside.kernel.ip([
      ...['10.96.0.0/16', '198.51.100.0/24', '192.168.72.0/24'].map((range) => ['route', 'add', range, 'via', NODE_ADDRESSES[0]]),
      ['route', 'add', 'fd96::/108', 'via', NODE_ADDRESSES[1]],
    ]);
    const node = new NodeMachine('n1', machine, { lab, client: cluster.client }, { removeOnStop: true });
    await node.register(['10.71.0.0/24', 'fd71::/64'], NODE_ADDRESSES, { 'topology.kubernetes.io/zone': 'here' });
    await node.start();
    const pods = [await node.pod('a'), await node.pod('b')];
    for (const { pod } of pods) {
      await pod.listen(8080);
      for (const host of ['0.0.0.0', '::']) await pod.listen(8080, { protocol: 'udp', host });
    }
    return { node, outside, pods, client: await node.pod('client') };
  }

  async run(settings: object = {}): Promise<KubeProxy> {
    const configuration = {
      mode: this.mode,
      clusterCIDR: '10.71.0.0/16,fd71::/64',
      healthzBindAddress: '127.0.0.1:0',
      metricsBindAddress: '127.0.0.1:0',
      [this.mode]: { minSyncPeriod: '1ms' },
      ...settings,
    };
    const config = { ...readProxyConfiguration(configuration), nodeName: 'n1', removeOnStop: true };
    const logger = createLogger({ clock: realClock, level: 'warn', write: (line) => void this.warnings.push(line) });
    const deps = { client: this.cluster.client, clock: realClock, random: systemRandom, logger, kernel: this.node.machine.kernel };
    this.proxy = startProxy(config, deps);
    await this.proxy.ready;
    return this.proxy;
  }

  async stopProxy(): Promise<void> {
    await this.proxy?.[Symbol.asyncDispose]();
    this.proxy = undefined;
  }

  /** Its cluster addresses. */
  async service(name: string, spec: object = {}, status?: object): Promise<readonly string[]> {
    const services = this.cluster.client.of(core.Service);
    const created = await services.create({
      metadata: { name, namespace: 'default' },
      spec: { ports: PORTS, ipFamilyPolicy: 'PreferDualStack', ...spec },
    } as core.Service);
    if (status) await services.patch({ name, namespace: 'default' }, { status }, { subresource: 'status' });
    return created.spec!.clusterIPs!;
  }

  get(name: string): Promise<core.Service> {
    return this.cluster.client.of(core.Service).get({ name, namespace: 'default' });
  }

  /** Replaces the endpoints of a service, in one slice per family; `part` selects another slice. */
  async endpoints(name: string, list: readonly LabEndpoint[], part = ''): Promise<void> {
    const slices = this.cluster.client.of(discovery.EndpointSlice);
    for (const addressType of ['IPv4', 'IPv6'] as const) {
      const ofFamily = list.filter(({ address }) => address.includes(':') === (addressType === 'IPv6'));
      const slice = {
        metadata: {
          name: `${name}${part}-${addressType.toLowerCase()}`,
          namespace: 'default',
          labels: { 'kubernetes.io/service-name': name },
        },
        addressType,
        ports: PORTS.map(({ name: portName, protocol }) => ({ name: portName, protocol, port: 8080 })),
        endpoints: ofFamily.map(({ address, ready = true, terminating = false, nodeName = 'n1', hints }) => ({
          ...{ addresses: [address], nodeName, conditions: { ready, serving: ready || terminating, terminating } },
          ...(hints && { hints }),
        })),
      };
      const key = { name: slice.metadata.name, namespace: 'default' };
      const before = await slices.get(key).catch(() => undefined);
      if (before === undefined) await slices.create(slice as discovery.EndpointSlice);
      else await slices.patch(key, { endpoints: slice.endpoints });
    }
  }

  /** Dual-stack endpoints of the server pods. */
  both(): readonly LabEndpoint[] {
    return this.pods.flatMap(({ addresses }) => addresses.map((address) => ({ address })));
  }

  of(pod: 0 | 1, change: Partial<LabEndpoint> = {}): readonly LabEndpoint[] {
    return this.pods[pod]!.addresses.map((address) => ({ address, ...change }));
  }

  get names(): readonly string[] {
    return this.pods.map(({ pod }) => pod.name).sort();
  }

  /** The servers that responded, in enough attempts to reach every one that may respond. */
  async reached(from: Namespace, target: Target, times = 16): Promise<readonly string[]> {
    const seen = new Set<string>();
    for (let i = 0; i < times; i++) seen.add(await from.reach({ timeoutMs: 5_000, ...target }));
    return [...seen].sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopProxy();
    await this.node.stop();
    await this.place.lab[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}
