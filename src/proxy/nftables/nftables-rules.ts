import { type NftContent, NftTransactions, pushAll } from '#base';
import type { StaleFlow } from '../conntrack.ts';
import { type Frontend, frontendId, type ProxyEndpoint, type ServicePortRules, type ServiceRules } from '../rules/service-rules.ts';
import { frontendElements } from './frontend-elements.ts';
import { removeTable, type TableSettings, tableName, tableText } from './table-text.ts';

export interface RuleChanges {
  /** Empty when nothing changed. */
  readonly script: string;
  readonly staleFlows: readonly StaleFlow[];
}

interface Claim {
  readonly rules: ServicePortRules;
  readonly frontend: Frontend;
}

interface AppliedRules extends NftContent {
  readonly claim: Claim;
}

/** The content of one family's table, and the changes that update it. */
export class NftablesRules {
  readonly #services = new Map<string, ServiceRules>();
  /** Claims of frontends, by service port. On conflicts the first service by name wins. */
  readonly #claims = new Map<string, Map<string, Claim>>();
  readonly #applied = new Map<string, AppliedRules>();
  readonly #transactions: NftTransactions;
  readonly #dirty = new Set<string>();

  constructor(private readonly settings: TableSettings) {
    this.#transactions = new NftTransactions(tableName(settings.family));
  }

  /** Replaces the rules of a service; undefined when it is deleted. */
  set(service: string, rules: ServiceRules | undefined): void {
    for (const port of this.#services.get(service)?.ports ?? []) this.#claim(port, false);
    if (rules === undefined) this.#services.delete(service);
    else this.#services.set(service, rules);
    for (const port of rules?.ports ?? []) this.#claim(port, true);
  }

  #claim(rules: ServicePortRules, isMade: boolean): void {
    if (rules.family !== this.settings.family) return;
    for (const frontend of rules.frontends) {
      const id = frontendId(frontend, rules);
      const claims = this.#claims.get(id) ?? new Map<string, Claim>();
      if (isMade) claims.set(rules.id, { rules, frontend });
      else claims.delete(rules.id);
      if (claims.size > 0) this.#claims.set(id, claims);
      else this.#claims.delete(id);
      this.#dirty.add(id);
    }
  }

  /** Frontends claimed by several services. */
  get conflicts(): readonly string[] {
    return [...this.#claims].filter(([, claims]) => claims.size > 1).map(([id]) => id);
  }

  /** The changes since the last call, as one transaction. */
  takeChanges(): RuleChanges {
    const staleFlows: StaleFlow[] = [];
    for (const id of this.#dirty) {
      const before = this.#applied.get(id);
      const after = this.#render(id);
      this.#transactions.replace(before, after);
      pushAll(staleFlows, staleFlowsOf(before?.claim, after?.claim));
      if (after === undefined) this.#applied.delete(id);
      else this.#applied.set(id, after);
    }
    this.#dirty.clear();
    return { script: this.#transactions.takeScript(), staleFlows };
  }

  #render(id: string): AppliedRules | undefined {
    const claims = this.#claims.get(id);
    if (claims === undefined) return undefined;
    const first = claims.size === 1 ? claims.keys().next().value! : [...claims.keys()].sort()[0]!;
    const claim = claims.get(first)!;
    return { ...frontendElements(claim.frontend, claim.rules, this.settings), claim };
  }

  /** The whole table, as one transaction that replaces the existing one. */
  fullScript(): string {
    const { family } = this.settings;
    return `${removeTable(family)}${tableText(this.settings)}${this.#transactions.fullScript()}`;
  }

  /** The table's content in a canonical form. */
  describe(): readonly string[] {
    return this.#transactions.describe();
  }
}

/** UDP flows stick to their first endpoint while they are active. */
function staleFlowsOf(before: Claim | undefined, after: Claim | undefined): readonly StaleFlow[] {
  const claim = before ?? after;
  if (claim === undefined || claim.rules.protocol !== 'udp') return [];
  const { rules, frontend } = claim;
  const { family } = rules;
  const flow = { family, port: frontend.port, ...(frontend.address !== undefined && { address: frontend.address }) };
  const left = new Set(endpointsOf(after).map(({ address, port }) => `${address} ${port}`));
  const removedEndpoints = endpointsOf(before).filter(({ address, port }) => !left.has(`${address} ${port}`));
  const wasRejected = endpointsOf(before).length === 0 && left.size > 0;
  return [...new Set(removedEndpoints.map(({ address }) => address))]
    .map((endpoint) => ({ ...flow, endpoint }))
    .concat(wasRejected ? [flow as never] : []);
}

function endpointsOf(claim: Claim | undefined): readonly ProxyEndpoint[] {
  return claim ? [...claim.frontend.endpoints, ...(claim.frontend.localEndpoints ?? [])] : [];
}
