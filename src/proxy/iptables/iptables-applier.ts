import { type KernelNetwork, type Logger, ProgramError } from '#base';
import type { Applier } from '../applier.ts';
import { removeStaleFlows } from '../conntrack.ts';
import type { NftablesSettings } from '../nftables/nftables-applier.ts';
import { NftablesRules } from '../nftables/nftables-rules.ts';
import { frontendId, type ServiceRules } from '../rules/service-rules.ts';
import { BASE_CHAINS, type Claim, type IptablesRules, iptablesRules, JUMPS, restoreText, routesLoopback } from './iptables-text.ts';

const FAMILIES = [4, 6] as const;
const PROGRAMS = { 4: 'iptables', 6: 'ip6tables' } as const;
/** Waits for the xtables lock. */
const WAIT = ['-w', '5'];

/** For machines without nftables: the chains that changed are rewritten, in one transaction per family. */
export class IptablesApplier implements Applier {
  readonly #services = new Map<string, ServiceRules>();
  /** Used to find stale flows. */
  readonly #flows: readonly NftablesRules[];
  /** What the kernel has; absent until the first write, and after a failed one. */
  readonly #written = new Map<4 | 6, IptablesRules>();
  #families: readonly (4 | 6)[] = FAMILIES;

  constructor(
    private readonly settings: NftablesSettings,
    private readonly deps: { readonly kernel: KernelNetwork; readonly logger: Logger },
  ) {
    this.#flows = FAMILIES.map((family) => new NftablesRules({ ...settings, family }));
  }

  async check(): Promise<void> {
    const works = async (family: 4 | 6) => {
      await this.deps.kernel.run(PROGRAMS[family], [...WAIT, '-t', 'nat', '-S', 'POSTROUTING']);
    };
    try {
      await works(4);
    } catch (cause) {
      throw new Error(`proxy mode iptables does not work here; choose another --proxy-mode: ${(cause as Error).message}`, { cause });
    }
    this.#families = await works(6).then(
      () => FAMILIES,
      () => [4],
    );
  }

  set(service: string, rules: ServiceRules | undefined): void {
    if (rules === undefined) this.#services.delete(service);
    else this.#services.set(service, rules);
    for (const book of this.#flows) book.set(service, rules);
  }

  async sync(): Promise<void> {
    for (const family of this.#families) await this.#write(family);
    const staleFlows = this.#flows.flatMap((book) => book.takeChanges().staleFlows);
    await removeStaleFlows(this.deps.kernel, staleFlows, this.deps.logger);
  }

  async #write(family: 4 | 6): Promise<void> {
    const rules = iptablesRules(family, this.#claims(family), this.settings);
    const written = this.#written.get(family);
    this.#written.delete(family);
    await this.#restore(family, restoreText(rules, written));
    if (written === undefined) await this.#connect(family);
    const stale = [...(written?.nat.keys() ?? (await this.#chainsInKernel(family)))].filter((name) => !rules.nat.has(name));
    await this.#restore(family, removalText('nat', stale));
    this.#written.set(family, rules);
  }

  async #restore(family: 4 | 6, input: string): Promise<void> {
    if (input !== '') await this.deps.kernel.run(`${PROGRAMS[family]}-restore`, [...WAIT, '--noflush'], { input });
  }

  async #connect(family: 4 | 6): Promise<void> {
    await this.#ensureJumps(family);
    // Last: the rules that protect loopback listeners must be in place.
    if (routesLoopback(family, this.settings)) await this.deps.kernel.sysctl({ 'net.ipv4.conf.all.route_localnet': '1' });
  }

  /** The chains of an earlier proxy. */
  async #chainsInKernel(family: 4 | 6): Promise<ReadonlySet<string>> {
    const text = await this.deps.kernel.run(PROGRAMS[family], [...WAIT, '-t', 'nat', '-S']);
    const names = text.split('\n').filter((line) => line.startsWith('-N SAMPAN-'));
    return new Set(names.map((line) => line.slice('-N '.length)));
  }

  #claims(family: 4 | 6): Iterable<Claim> {
    const claims = new Map<string, Claim>();
    for (const { ports } of this.#services.values()) {
      for (const rules of ports.filter((port) => port.family === family)) {
        for (const frontend of rules.frontends) {
          const id = frontendId(frontend, rules);
          const other = claims.get(id);
          if (other === undefined || rules.id < other.rules.id) claims.set(id, { rules, frontend });
        }
      }
    }
    return claims.values();
  }

  async #ensureJumps(family: 4 | 6): Promise<void> {
    const { kernel } = this.deps;
    for (const { table, chain, rule } of JUMPS) {
      const run = (verb: string) => kernel.run(PROGRAMS[family], [...WAIT, '-t', table, verb, chain, ...rule]);
      try {
        await run('-C');
      } catch (error) {
        // Exit code 1: it does not exist.
        if (!(error instanceof ProgramError) || error.exitCode !== 1) throw error;
        await run('-I');
      }
    }
  }

  async repair(): Promise<void> {
    this.#written.clear();
    for (const family of this.#families) await this.#write(family);
  }

  async remove(): Promise<void> {
    const { kernel } = this.deps;
    for (const family of this.#families) {
      for (const { table, chain, rule } of JUMPS)
        await kernel.run(PROGRAMS[family], [...WAIT, '-t', table, '-D', chain, ...rule]).catch(() => '');
      const chains = { nat: [...(await this.#chainsInKernel(family))], filter: [...BASE_CHAINS.filter] };
      for (const [table, names] of Object.entries(chains)) await this.#restore(family, removalText(table, names));
      this.#written.delete(family);
    }
  }

  describe(): readonly string[] {
    const text = (family: 4 | 6) => restoreText(iptablesRules(family, this.#claims(family), this.settings));
    return FAMILIES.flatMap((family) => text(family).trimEnd().split('\n'));
  }
}

function removalText(table: string, chains: readonly string[]): string {
  if (chains.length === 0) return '';
  return [`*${table}`, ...chains.map((name) => `:${name} - [0:0]`), ...chains.map((name) => `-X ${name}`), 'COMMIT', ''].join('\n');
}
