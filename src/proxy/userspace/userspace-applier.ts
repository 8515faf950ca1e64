import { networkInterfaces } from 'node:os';
import { networkContains, parseCidr, parseIp } from '#base';
import type { Applier } from '../applier.ts';
import { type Frontend, frontendId, type ServicePortRules, type ServiceRules } from '../rules/service-rules.ts';
import { type Forwarder, type ForwarderDeps, TcpForwarder, UdpForwarder } from './forwarder.ts';

export interface UserspaceSettings {
  /** Listen addresses of node ports, or ranges of them; empty: all. */
  readonly nodePortAddresses: readonly string[];
}

interface Claim {
  readonly rules: ServicePortRules;
  readonly frontend: Frontend;
  readonly host: string;
}

export interface UserspaceDeps extends ForwarderDeps {
  /** Default: those that this machine has now. */
  readonly machineAddresses?: () => readonly string[];
}

/**
 * Forwards connections in this process: without privileges, on any system. It can listen only on local addresses, so cluster
 * IPs work where they are routed to the machine; node ports always work.
 */
export class UserspaceApplier implements Applier {
  readonly #services = new Map<string, ServiceRules>();
  readonly #forwarders = new Map<string, Forwarder>();
  readonly #unavailable = new Set<string>();

  constructor(
    private readonly settings: UserspaceSettings,
    private readonly deps: UserspaceDeps,
  ) {}

  async check(): Promise<void> {}

  set(service: string, rules: ServiceRules | undefined): void {
    if (rules === undefined) this.#services.delete(service);
    else this.#services.set(service, rules);
  }

  async sync(): Promise<void> {
    const claims = this.#claims();
    for (const [id, forwarder] of this.#forwarders) {
      if (claims.has(id)) continue;
      this.#forwarders.delete(id);
      await forwarder[Symbol.asyncDispose]();
    }
    for (const id of this.#unavailable) if (!claims.has(id)) this.#unavailable.delete(id);
    for (const [id, claim] of claims) await this.#forward(id, claim);
  }

  /** Of several services that claim an address and port, the first by name wins. */
  #claims(): ReadonlyMap<string, Claim> {
    const claims = new Map<string, Claim>();
    const hosts = { 4: this.#nodeHosts(4), 6: this.#nodeHosts(6) };
    for (const { ports } of this.#services.values()) {
      for (const rules of ports.filter(({ protocol }) => protocol !== 'sctp')) {
        for (const frontend of rules.frontends) {
          for (const host of frontend.address === undefined ? hosts[rules.family] : [frontend.address]) {
            const id = `${frontendId(frontend, rules)}${frontend.address === undefined ? ` ${host}` : ''}`;
            const other = claims.get(id);
            if (other === undefined || rules.id < other.rules.id) claims.set(id, { rules, frontend, host });
          }
        }
      }
    }
    return claims;
  }

  async #forward(id: string, { rules, frontend, host }: Claim): Promise<void> {
    const endpoints = frontend.localEndpoints ?? frontend.endpoints;
    const rule = { endpoints, affinitySeconds: rules.affinitySeconds, sourceRanges: frontend.sourceRanges };
    const existing = this.#forwarders.get(id);
    if (existing !== undefined) {
      existing.update(rule);
      return;
    }
    if (this.#unavailable.has(id)) return;
    const Forward = rules.protocol === 'tcp' ? TcpForwarder : UdpForwarder;
    const forwarder = new Forward(rules.family, this.deps);
    forwarder.update(rule);
    try {
      await forwarder.listen(host, frontend.port);
      this.#forwarders.set(id, forwarder);
    } catch (error) {
      this.#unavailable.add(id);
      await forwarder[Symbol.asyncDispose]();
      this.deps.logger.warn('an address of a service cannot be served from user space', { service: rules.id, frontend: id, error });
    }
  }

  /** Where node ports of a family listen: ranges mean the addresses of the machine within them. */
  #nodeHosts(family: 4 | 6): readonly string[] {
    const { nodePortAddresses } = this.settings;
    if (nodePortAddresses.length === 0) return [family === 4 ? '0.0.0.0' : '::'];
    const ranges = nodePortAddresses.map(parseCidr).filter((range) => range?.family === family);
    const addresses = nodePortAddresses.filter((item) => parseIp(item)?.family === family);
    const own = ranges.length === 0 ? [] : (this.deps.machineAddresses ?? machineAddresses)();
    const inRanges = own.filter((address) => {
      const ip = parseIp(address);
      return ip !== undefined && ranges.some((range) => range !== undefined && networkContains(range, ip));
    });
    return [...new Set([...addresses, ...inRanges])];
  }

  /** Retries: addresses may have appeared in the meantime. */
  async repair(): Promise<void> {
    this.#unavailable.clear();
    await this.sync();
  }

  async remove(): Promise<void> {
    for (const forwarder of this.#forwarders.values()) await forwarder[Symbol.asyncDispose]();
    this.#forwarders.clear();
  }

  describe(): readonly string[] {
    const lines = [...this.#claims()].map(([id, { frontend }]) => {
      const targets = (frontend.localEndpoints ?? frontend.endpoints).map(({ address, port }) => `${address}:${port}`);
      return `${id} → ${targets.join(', ') || 'refused'}`;
    });
    return lines.sort();
  }
}

function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
