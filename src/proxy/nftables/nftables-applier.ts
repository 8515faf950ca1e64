import type { KernelNetwork, Logger } from '#base';
import type { Applier } from '../applier.ts';
import { removeStaleFlows } from '../conntrack.ts';
import type { ServiceRules } from '../rules/service-rules.ts';
import { NftablesRules } from './nftables-rules.ts';
import { PROXY_TABLE, removeTable, type TableSettings, tableText } from './table-text.ts';

export type NftablesSettings = Omit<TableSettings, 'family'>;

const FAMILIES = [4, 6] as const;

/** One nftables table per family. A change of one service is a transaction of its size, independent of the number of services. */
export class NftablesApplier implements Applier {
  readonly #books: readonly NftablesRules[];
  readonly #settings: readonly TableSettings[];
  #isWhole = false;

  constructor(
    settings: NftablesSettings,
    private readonly deps: { readonly kernel: KernelNetwork; readonly logger: Logger },
  ) {
    this.#settings = FAMILIES.map((family) => ({
      ...settings,
      family,
      podCidrs: settings.podCidrs.filter((cidr) => isOf(family, cidr)),
      nodePortAddresses: settings.nodePortAddresses.filter((address) => isOf(family, address)),
    }));
    this.#books = this.#settings.map((forFamily) => new NftablesRules(forFamily));
  }

  async check(): Promise<void> {
    const input = this.#settings.map((settings) => `${removeTable(settings.family)}${tableText(settings)}`).join('');
    try {
      await this.deps.kernel.run('nft', ['--check', '-f', '-'], { input });
    } catch (cause) {
      const detail = (cause as Error).message;
      throw new Error(`proxy mode nftables needs nft 1.0.1 or newer and a kernel with nftables; choose another --proxy-mode: ${detail}`, {
        cause,
      });
    }
  }

  set(service: string, rules: ServiceRules | undefined): void {
    for (const book of this.#books) book.set(service, rules);
  }

  async sync(): Promise<void> {
    const changes = this.#books.map((book) => book.takeChanges());
    await this.#apply(changes.map(({ script }) => script).join(''));
    await removeStaleFlows(
      this.deps.kernel,
      changes.flatMap(({ staleFlows }) => staleFlows),
      this.deps.logger,
    );
  }

  async #apply(script: string): Promise<void> {
    if (!this.#isWhole) return this.#applyAll();
    if (script === '') return;
    try {
      await this.deps.kernel.nft(script);
    } catch (error) {
      this.deps.logger.warn('a change could not be applied; all rules are written again', { error });
      await this.#applyAll();
    }
  }

  /** One transaction: packets see the old rules or the new ones. */
  async #applyAll(): Promise<void> {
    this.#isWhole = false;
    await this.deps.kernel.nft(this.#books.map((book) => book.fullScript()).join(''));
    this.#isWhole = true;
  }

  async repair(): Promise<void> {
    const { nftables } = await this.deps.kernel.nftJson(['list', 'tables']);
    const present = nftables.filter(({ table }) => (table as { name?: string } | undefined)?.name === PROXY_TABLE);
    if (present.length === FAMILIES.length || !this.#isWhole) return;
    this.deps.logger.warn('service rules were removed from outside; they are restored');
    await this.#applyAll();
  }

  async remove(): Promise<void> {
    await this.deps.kernel.nft(FAMILIES.map(removeTable).join(''));
    this.#isWhole = false;
  }

  describe(): readonly string[] {
    for (const book of this.#books) book.takeChanges();
    this.#isWhole = false;
    return this.#books.flatMap((book, i) => book.describe().map((line) => `${FAMILIES[i] === 4 ? 'ip' : 'ip6'} ${line}`));
  }
}

function isOf(family: 4 | 6, address: string): boolean {
  return address.includes(':') === (family === 6);
}
