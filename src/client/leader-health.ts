/** As upstream: how long after its expiry a lease may be held before the check fails. */
const TOLERANCE_MS = 20_000;

/** The state of a leader election for its health check. */
export interface LeaseTerm {
  readonly leaseName: string;
  readonly isLeader: boolean;
  /** The time since the candidate's lease expired; negative while it is valid. */
  readonly expiredMs: number;
}

/** The health check `leaderElection`: fails for a leader that neither renews its lease nor stops. */
export class LeaderHealth {
  #term: LeaseTerm | undefined;

  watch(term: LeaseTerm): void {
    this.#term = term;
  }

  problem(): string | undefined {
    const term = this.#term;
    if (!term?.isLeader || term.expiredMs <= TOLERANCE_MS) return undefined;
    return `failed election to renew leadership on lease ${term.leaseName}`;
  }
}
