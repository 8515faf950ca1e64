import { type Clock, mapMaybePromise } from '#base';
import { goQuote } from '#machinery';
import { authenticated, type UserInfo } from '../../request/user.ts';
import type { TokenAuthenticator, TokenResponse } from '../authenticator.ts';
import type { ObjectReader } from '../object-reader.ts';
import type { AccountObjects } from './account-objects.ts';
import { type BoundObjects, checkObjects, checkTimes, tokenUser } from './bound-claims.ts';
import type { TokenClaims } from './claims.ts';
import { claimedIssuer, type SignedPayload, type SignedTokens } from './signed-tokens.ts';

export interface AccountTokensOptions {
  readonly tokens: SignedTokens;
  /** The signing issuer and former ones. */
  readonly issuers: readonly string[];
  /** The audiences of tokens without any. */
  readonly audiences: readonly string[];
  readonly objects: AccountObjects;
  readonly clock: Clock;
}

/** Bound service account tokens: with expiry, audiences and bound objects. */
export function accountTokens(options: AccountTokensOptions): TokenAuthenticator {
  const { tokens, issuers, clock } = options;
  const users = new WeakMap<SignedPayload, UserInfo>();
  const authenticateClaims = (payload: SignedPayload, requested: readonly string[]) => {
    const claims = readClaims(payload);
    const audiences = sharedAudiences(claims.aud.length > 0 ? claims.aud : options.audiences, requested);
    checkTimes(claims, clock.now());
    const tokenResponse = () => ({ user: userOf(claims, payload, users), audiences });
    return checkCurrent(claims, options, tokenResponse);
  };
  return {
    authenticateToken(token, audiences) {
      const issuer = claimedIssuer(token);
      if (issuer === undefined || !issuers.includes(issuer)) return undefined;
      const payload = tokens.verify(token);
      return mapMaybePromise(payload, (good) => authenticateClaims(good, audiences));
    },
  };
}

function userOf(claims: TokenClaims, payload: SignedPayload, users: WeakMap<SignedPayload, UserInfo>): UserInfo {
  let user = users.get(payload);
  if (user === undefined) {
    user = authenticated(tokenUser(claims));
    users.set(payload, user);
  }
  return user;
}

export function sharedAudiences(audiences: readonly string[], requested: readonly string[]): readonly string[] {
  const shared = audiences.filter((audience) => requested.includes(audience));
  if (shared.length > 0 || requested.length === 0) return shared;
  throw new Error(`token audiences [${quoted(audiences)}] is invalid for the target audiences [${quoted(requested)}]`);
}

function quoted(texts: readonly string[]): string {
  return texts.map(goQuote).join(' ');
}

function readClaims(payload: SignedPayload): TokenClaims {
  const { aud } = payload as { aud?: string | readonly string[] };
  const own = (payload['kubernetes.io'] ?? {}) as Partial<TokenClaims['kubernetes.io']>;
  const place = { ...own, namespace: own.namespace ?? '', serviceaccount: own.serviceaccount ?? {} };
  return { ...(payload as unknown as TokenClaims), aud: typeof aud === 'string' ? [aud] : (aud ?? []), 'kubernetes.io': place };
}

/** The cache decides most cases synchronously; before a rejection the store is read. */
function checkCurrent(
  { 'kubernetes.io': claims }: TokenClaims,
  { objects, clock }: AccountTokensOptions,
  tokenResponse: () => TokenResponse,
): TokenResponse | Promise<TokenResponse> {
  const cached = findObjects(claims, objects, (reader, { namespace, name }) => reader.cached(namespace, name));
  try {
    checkObjects(claims, cached, clock.now());
    return tokenResponse();
  } catch {
    return confirmed(claims, objects).then((current) => {
      checkObjects(claims, current, clock.now());
      return tokenResponse();
    });
  }
}

interface ObjectPlace {
  readonly namespace: string;
  readonly name: string;
}

function findObjects<R>(
  { namespace, serviceaccount, pod, secret, node }: TokenClaims['kubernetes.io'],
  { serviceAccounts, pods, secrets, nodes }: AccountObjects,
  read: (reader: ObjectReader, place: ObjectPlace) => R,
): Record<keyof BoundObjects, R | undefined> {
  return {
    account: read(serviceAccounts, { namespace, name: serviceaccount.name ?? '' }),
    pod: pod && read(pods, { namespace, name: pod.name ?? '' }),
    secret: secret && read(secrets, { namespace, name: secret.name ?? '' }),
    node: node && pod === undefined ? read(nodes, { namespace: '', name: node.name ?? '' }) : undefined,
  };
}

async function confirmed(claims: TokenClaims['kubernetes.io'], objects: AccountObjects): Promise<BoundObjects> {
  const reads = findObjects(claims, objects, (reader, { namespace, name }) => reader.current(namespace, name));
  const [account, pod, secret, node] = await Promise.all([reads.account, reads.pod, reads.secret, reads.node]);
  return { account, pod, secret, node };
}
