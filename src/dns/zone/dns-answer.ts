import type { Answer } from 'dns-packet';

export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5 } as const;
export type Rcode = (typeof RCODE)[keyof typeof RCODE];

export interface DnsQuestion {
  /** Lower case, without the final dot. */
  readonly name: string;
  readonly type: string;
}

export interface DnsAnswer {
  readonly rcode: Rcode;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
  readonly additionals: readonly Answer[];
  /** A name outside of the zone to resolve and append. */
  readonly follow?: string;
  /** Whether the addresses are rotated. */
  readonly isBalanced?: boolean;
}
