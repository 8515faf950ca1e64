import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AsyncMutex, type KernelNetwork, type Logger, type NetworkCommand } from '#base';
import type { Attachment } from './attachment-store.ts';
import { type HostRulesInput, hostRules, removeHostRules } from './host-rules.ts';
import {
  type Backend,
  type LocalNode,
  type Peer,
  planRoutes,
  ROUTE_PROTOCOL,
  type RoutePlan,
  routeChanges,
  tunnelDevice,
  VXLAN_DEVICE,
  VXLAN_OVERHEAD,
} from './node-routes.ts';
import { HOST_INTERFACE_PREFIX, hostRoute, isIpv6, podMac } from './pod-interface.ts';
import type { AttachmentObserver } from './pod-network.ts';

/** Holds the gateway address of each pod CIDR. A bridge without ports, available wherever containers run. */
export const GATEWAY_DEVICE = 'sampan0';
const DEFAULT_MTU = 1500;
const NO_ROUTES: RoutePlan = { direct: [], tunnel: [], unreachable: [] };

export interface HostNetworkConfig {
  readonly nodeName: string;
  /** For the machine's previous settings. */
  readonly stateDirectory: string;
  readonly backend: Backend;
  /** Default: that of the link with the default route, minus the tunnel overhead. */
  readonly mtu?: number | undefined;
  readonly masquerade: boolean;
}

export interface Gateway {
  readonly podCidr: string;
  readonly address: string;
}

/** The host side of the pod network: gateway addresses, rules, and routes to the pods of other nodes. */
export class HostNetwork implements AttachmentObserver {
  readonly #mutex = new AsyncMutex();
  #gateways: readonly Gateway[] = [];
  #clusterCidrs: readonly string[] = [];
  #plan = NO_ROUTES;
  #mtu = DEFAULT_MTU;
  readonly #withPorts = new Map<string, Pick<Attachment, 'addresses' | 'portMappings'>>();

  constructor(
    private readonly config: HostNetworkConfig,
    private readonly deps: { readonly kernel: KernelNetwork; readonly logger: Logger },
  ) {}

  get mtu(): number {
    return this.#mtu;
  }

  get gateways(): readonly Gateway[] {
    return this.#gateways;
  }

  /** Throws when the installed nft lacks a feature, before anything is changed. */
  async checkRules(): Promise<void> {
    const input = { podCidrs: ['10.0.0.0/24', 'fd00::/64'], clusterCidrs: [], attachments: [], masquerade: true };
    try {
      await this.deps.kernel.run('nft', ['--check', '-f', '-'], { input: hostRules(input) });
    } catch (cause) {
      throw new Error(`the pod network needs nft 1.0 or newer and a kernel with nftables: ${(cause as Error).message}`, { cause });
    }
  }

  /** Sets up the machine, or adopts the state of an earlier agent: existing rules and routes are replaced, never removed first. */
  async setUp(gateways: readonly Gateway[], attachments: readonly Attachment[]): Promise<void> {
    const { kernel } = this.deps;
    await this.#rememberMachine(gateways);
    this.#gateways = gateways;
    // If it exists only its addresses are updated.
    await kernel.ip([['link', 'add', GATEWAY_DEVICE, 'type', 'bridge']], { force: true });
    await kernel.ip([
      ['link', 'set', GATEWAY_DEVICE, 'addrgenmode', 'none'],
      ['link', 'set', GATEWAY_DEVICE, 'up'],
      ...gateways.map(({ address }): NetworkCommand => {
        return ['addr', 'replace', hostRoute(address), 'dev', GATEWAY_DEVICE, ...(isIpv6(address) ? ['nodad'] : [])];
      }),
    ]);
    for (const attachment of attachments) this.#recordPorts(attachment);
    await kernel.ip(
      attachments.flatMap((attachment) => this.#routesTo(attachment)),
      { force: true },
    );
    this.#mtu = await this.#findMtu();
    await this.#applyRules();
  }

  /** The kernel removes routes to pods with the gateway address; they are restored with it. */
  #routesTo({ addresses, hostInterface }: Attachment): readonly NetworkCommand[] {
    return addresses.flatMap((address): NetworkCommand[] => {
      const gateway = this.#gateways.find((candidate) => isIpv6(candidate.address) === isIpv6(address));
      if (gateway === undefined) return [];
      return [
        ['neigh', 'replace', address, 'lladdr', podMac(addresses), 'dev', hostInterface, 'nud', 'permanent'],
        ['route', 'replace', hostRoute(address), 'dev', hostInterface, 'src', gateway.address],
      ];
    });
  }

  async useNodes(local: Omit<LocalNode, 'linkNetworks'>, peers: readonly Peer[]): Promise<void> {
    await this.#mutex.run(() => this.#useNodes(local, peers));
  }

  async #useNodes(local: Omit<LocalNode, 'linkNetworks'>, peers: readonly Peer[]): Promise<void> {
    const { kernel, logger } = this.deps;
    const self: LocalNode = { ...local, linkNetworks: await this.#linkNetworks() };
    const plan = planRoutes(self, peers, this.config.backend);
    for (const { node, cidr, reason } of plan.unreachable) logger.warn('pods of a node cannot be reached', { node, cidr, reason });
    const commands = routeChanges(this.#plan, plan);
    if (plan.tunnel.length > 0 && this.#plan.tunnel.length === 0) await this.#makeTunnel(self);
    await kernel.ip(commands.ip);
    await kernel.bridge(commands.bridge);
    this.#plan = plan;
    this.#mtu = await this.#findMtu();
    const cidrs = [...peers.flatMap((peer) => peer.podCidrs), ...peers.flatMap((peer) => peer.addresses)].sort();
    if (cidrs.join() !== this.#clusterCidrs.join()) {
      this.#clusterCidrs = cidrs;
      await this.#writeRules();
    }
  }

  async #makeTunnel(local: LocalNode): Promise<void> {
    const { kernel } = this.deps;
    await kernel.ip([['link', 'del', VXLAN_DEVICE]], { force: true });
    const podCidrs = this.#gateways.map(({ podCidr }) => podCidr);
    await kernel.ip(tunnelDevice(local, podCidrs, (await this.#linkMtu()) - overhead(local)));
  }

  async attached(attachment: Attachment): Promise<void> {
    if (!this.#recordPorts(attachment)) return;
    await this.deps.kernel.sysctl({ [`net.ipv4.conf.${attachment.hostInterface}.route_localnet`]: '1' });
    await this.#applyRules();
  }

  async detached({ containerId }: Attachment): Promise<void> {
    if (this.#withPorts.delete(containerId)) await this.#applyRules();
  }

  #recordPorts({ containerId, addresses, portMappings }: Attachment): boolean {
    if (portMappings.length === 0) return false;
    this.#withPorts.set(containerId, { addresses, portMappings });
    return true;
  }

  #applyRules(): Promise<void> {
    return this.#mutex.run(() => this.#writeRules());
  }

  async #writeRules(): Promise<void> {
    const input: HostRulesInput = {
      podCidrs: this.#gateways.map(({ podCidr }) => podCidr),
      clusterCidrs: [...this.#gateways.map(({ podCidr }) => podCidr), ...this.#clusterCidrs],
      attachments: [...this.#withPorts.values()],
      masquerade: this.config.masquerade,
    };
    await this.deps.kernel.nft(hostRules(input));
  }

  /** Restores the machine's network. Pod interfaces stay: they are removed with their pods. */
  async tearDown(): Promise<void> {
    const { kernel } = this.deps;
    await kernel.nft(removeHostRules());
    const routes = ['-4', '-6'].map((family): NetworkCommand => [family, 'route', 'flush', 'proto', ROUTE_PROTOCOL]);
    for (const route of routes) await kernel.run('ip', route).catch(() => '');
    await kernel.ip(
      [
        ['link', 'del', VXLAN_DEVICE],
        ['link', 'del', GATEWAY_DEVICE],
      ],
      { force: true },
    );
    await this.#restoreMachine();
  }

  get #machineFile(): string {
    return path.join(this.config.stateDirectory, 'machine.json');
  }

  /** Once, before the first change: a restarted agent must not record its own settings as the machine's. */
  async #rememberMachine(gateways: readonly Gateway[]): Promise<void> {
    const { kernel } = this.deps;
    const needed = {
      'net.ipv4.ip_forward': '1',
      ...(gateways.some(({ address }) => isIpv6(address)) && { 'net.ipv6.conf.all.forwarding': '1' }),
    };
    const before: Record<string, string> = {};
    for (const name of Object.keys(needed)) before[name] = await kernel.readSysctl(name);
    await writeFile(this.#machineFile, JSON.stringify(before), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await kernel.sysctl(needed);
  }

  async #restoreMachine(): Promise<void> {
    const text = await readFile(this.#machineFile, 'utf8').catch(() => '{}');
    await this.deps.kernel.sysctl(JSON.parse(text) as Record<string, string>);
    await rm(this.#machineFile, { force: true });
  }

  async #linkNetworks(): Promise<readonly string[]> {
    const links = (await this.deps.kernel.ipJson(['addr', 'show'])) as readonly Link[];
    const others = links.filter(({ ifname }) => !isOwnDevice(ifname) && ifname !== 'lo');
    return others.flatMap(({ addr_info = [] }) =>
      addr_info.filter(({ scope }) => scope === 'global').map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    );
  }

  async #findMtu(): Promise<number> {
    const tunnels = this.config.backend === 'vxlan' || this.#plan.tunnel.length > 0;
    const [first] = this.#plan.tunnel;
    return this.config.mtu ?? (await this.#linkMtu()) - (tunnels ? VXLAN_OVERHEAD[first && isIpv6(first.remote) ? 6 : 4] : 0);
  }

  async #linkMtu(): Promise<number> {
    const { kernel } = this.deps;
    for (const family of ['-4', '-6']) {
      const [route] = (await kernel.ipJson([family, 'route', 'show', 'default'])) as readonly { dev?: string }[];
      if (route?.dev === undefined || isOwnDevice(route.dev)) continue;
      const [link] = (await kernel.ipJson(['link', 'show', 'dev', route.dev])) as readonly Link[];
      // The loopback's MTU is larger than any frame.
      if (link?.mtu !== undefined && route.dev !== 'lo') return link.mtu;
    }
    return DEFAULT_MTU;
  }
}

interface Link {
  readonly ifname: string;
  readonly mtu?: number;
  readonly addr_info?: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
}

function isOwnDevice(device: string): boolean {
  return device === GATEWAY_DEVICE || device === VXLAN_DEVICE || device.startsWith(HOST_INTERFACE_PREFIX);
}

function overhead({ addresses }: LocalNode): number {
  return VXLAN_OVERHEAD[addresses[0] && isIpv6(addresses[0]) ? 6 : 4];
}
