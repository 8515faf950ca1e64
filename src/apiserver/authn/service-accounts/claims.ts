import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { serviceAccountUsername } from './username.ts';

export interface ObjectClaim {
  readonly name?: string;
  readonly uid?: string;
}

/** The claims of a service account token, optionally bound to a pod, a secret or a node. Times are in seconds. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: ObjectClaim;
    readonly pod?: ObjectClaim;
    readonly secret?: ObjectClaim;
    readonly node?: ObjectClaim;
    readonly warnafter?: number;
  };
}

/** The token becomes invalid when a bound object is deleted. */
export interface BoundObjects {
  readonly pod?: KubeObject;
  readonly secret?: KubeObject;
  /** The node itself, or the pod's node. */
  readonly node?: KubeObject;
}

export interface ClaimsOptions {
  readonly account: KubeObject;
  readonly bound: BoundObjects;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The age after which use produces a warning; 0: never. */
  readonly warnAfterSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly id: string;
}

export function tokenClaims(options: ClaimsOptions): TokenClaims {
  const { account, bound, issuer, audiences, expirationSeconds, warnAfterSeconds, id } = options;
  const now = Math.floor(options.now / 1000);
  const namespace = account.metadata.namespace ?? '';
  return {
    aud: audiences,
    exp: now + expirationSeconds,
    iat: now,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(bound.node && { node: claimOf(bound.node) }),
      ...(bound.pod && { pod: claimOf(bound.pod) }),
      ...(bound.secret && { secret: claimOf(bound.secret) }),
      serviceaccount: claimOf(account),
      ...(warnAfterSeconds > 0 && { warnafter: now + warnAfterSeconds }),
    },
    nbf: now,
    sub: serviceAccountUsername({ namespace, name: account.metadata.name }),
  };
}

function claimOf({ metadata }: KubeObject): ObjectClaim {
  return { name: metadata.name, ...(metadata.uid && { uid: metadata.uid }) };
}
