import { type KernelNetwork, type NetworkCommand, networkContains, parseCidr, parseIp } from '#base';

/** The device for packets to unserved load balancer ports. A bridge without ports, available wherever containers run. */
const DEVICE = 'sampan-lb';

interface Link {
  readonly ifname: string;
  readonly addr_info?: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
}

/**
 * Answers ARP and neighbour discovery for addresses on the machine's links. The addresses are not assigned to the machine, so that
 * its other services are not reachable through them.
 */
export class Announcer {
  /** Previous settings of links. */
  readonly #before = new Map<string, string>();

  constructor(private readonly kernel: KernelNetwork) {}

  /** Announces exactly these; state of an earlier process is adopted. */
  async announce(addresses: readonly string[]): Promise<void> {
    const links = await this.#links();
    const present = await this.#present();
    const removed = present.filter((address) => !addresses.includes(address));
    if (addresses.length > 0) await this.#ensureDevice();
    await this.kernel.ip(
      removed.flatMap((address) => commands('del', address, links)),
      { force: true },
    );
    for (const address of addresses) {
      await this.#prepare(address, links);
      await this.kernel.ip(commands('replace', address, links));
    }
    if (addresses.length === 0 && present.length > 0) await this.kernel.ip([['link', 'del', DEVICE]], { force: true });
  }

  /** Restores the machine's previous settings. */
  async remove(): Promise<void> {
    await this.announce([]);
    for (const [name, value] of this.#before) await this.kernel.sysctl({ [name]: value });
    this.#before.clear();
  }

  async #ensureDevice(): Promise<void> {
    await this.kernel.ip([['link', 'add', DEVICE, 'type', 'bridge']], { force: true });
    await this.kernel.ip([['link', 'set', DEVICE, 'addrgenmode', 'none', 'up']]);
  }

  async #links(): Promise<readonly Link[]> {
    const links = (await this.kernel.ipJson(['addr', 'show'])) as readonly Link[];
    return links.filter(({ ifname }) => ifname !== DEVICE && ifname !== 'lo');
  }

  /** The announced addresses, from the routes to the device. */
  async #present(): Promise<readonly string[]> {
    // Fails when the device does not exist.
    const routesOf = (family: string) => this.kernel.ipJson([family, 'route', 'show', 'dev', DEVICE]).catch(() => []);
    const routes = [await routesOf('-4'), await routesOf('-6')].flat() as readonly { readonly dst: string }[];
    return routes.map(({ dst }) => dst).filter((dst) => parseIp(dst) !== undefined);
  }

  /** Updates neighbours at once; IPv6 needs a proxy entry per link. */
  async #prepare(address: string, links: readonly Link[]): Promise<void> {
    const isV6 = address.includes(':');
    for (const link of onLink(address, links)) {
      await this.#set(`net.${isV6 ? 'ipv6' : 'ipv4'}.neigh.${link}.proxy_delay`, '0');
      if (isV6) await this.#set(`net.ipv6.conf.${link}.proxy_ndp`, '1');
    }
  }

  async #set(name: string, value: string): Promise<void> {
    if (this.#before.has(name)) return;
    this.#before.set(name, await this.kernel.readSysctl(name));
    await this.kernel.sysctl({ [name]: value });
  }
}

function commands(verb: 'replace' | 'del', address: string, links: readonly Link[]): readonly NetworkCommand[] {
  const route: NetworkCommand = ['route', verb, `${address}/${address.includes(':') ? 128 : 32}`, 'dev', DEVICE];
  return [route, ...onLink(address, links).map((link): NetworkCommand => ['neigh', verb, 'proxy', address, 'dev', link])];
}

/** The links whose network contains the address. */
function onLink(text: string, links: readonly Link[]): readonly string[] {
  const address = parseIp(text);
  const holds = ({ addr_info = [] }: Link) =>
    addr_info.some(({ local, prefixlen, scope }) => {
      const network = scope === 'global' ? parseCidr(`${local}/${prefixlen}`) : undefined;
      return network !== undefined && address !== undefined && networkContains(network, address);
    });
  return links.filter(holds).map(({ ifname }) => ifname);
}
