import type { Clock } from '#base';
import { goQuote } from '#machinery';
import type { TokenAuthenticator, TokenVerdict } from '../authenticator.ts';
import type { ObjectReader } from '../object-reader.ts';
import { authenticated, type UserInfo } from '../user.ts';
import type { AccountObjects } from './account-objects.ts';
import { checkObjects, checkTimes, type FoundObjects, tokenUser } from './bound-claims.ts';
import type { TokenClaims } from './claims.ts';
import { claimedIssuer, type SignedPayload, type SignedTokens } from './signed-tokens.ts';

export interface AccountTokensOptions {
  readonly tokens: SignedTokens;
  /** The issuer that signs, and those that signed before it. */
  readonly issuers: readonly string[];
  /** Whom a token is for that does not say so. */
  readonly audiences: readonly string[];
  readonly objects: AccountObjects;
  readonly clock: Clock;
}

/** Tokens that were requested for a service account: they expire, name whom they are for, and die with what they are bound to. */
export function accountTokens(options: AccountTokensOptions): TokenAuthenticator {
  const { tokens, issuers, clock } = options;
  const users = new WeakMap<SignedPayload, UserInfo>();
  const judge = (payload: SignedPayload, asked: readonly string[]) => {
    const claims = readClaims(payload);
    const audiences = sharedAudiences(claims.aud.length > 0 ? claims.aud : options.audiences, asked);
    checkTimes(claims, clock.now());
    const verdict = () => ({ user: userOf(claims, payload, users), audiences });
    return checkCurrent(claims, options, verdict);
  };
  return {
    authenticateToken(token, audiences) {
      const issuer = claimedIssuer(token);
      if (issuer === undefined || !issuers.includes(issuer)) return undefined;
      const payload = tokens.verify(token);
      return payload instanceof Promise ? payload.then((good) => judge(good, audiences)) : judge(payload, audiences);
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

export function sharedAudiences(audiences: readonly string[], asked: readonly string[]): readonly string[] {
  const shared = audiences.filter((audience) => asked.includes(audience));
  if (shared.length > 0 || asked.length === 0) return shared;
  throw new Error(`token audiences [${quoted(audiences)}] is invalid for the target audiences [${quoted(asked)}]`);
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

/** What is known here settles most cases at once; before a token is refused, the store itself is asked. */
function checkCurrent(
  { 'kubernetes.io': claims }: TokenClaims,
  { objects, clock }: AccountTokensOptions,
  verdict: () => TokenVerdict,
): TokenVerdict | Promise<TokenVerdict> {
  const known = findObjects(claims, objects, (reader, { namespace, name }) => reader.known(namespace, name));
  try {
    checkObjects(claims, known, clock.now());
    return verdict();
  } catch {
    return confirmed(claims, objects).then((found) => {
      checkObjects(claims, found, clock.now());
      return verdict();
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
): Record<keyof FoundObjects, R | undefined> {
  return {
    account: read(serviceAccounts, { namespace, name: serviceaccount.name ?? '' }),
    pod: pod && read(pods, { namespace, name: pod.name ?? '' }),
    secret: secret && read(secrets, { namespace, name: secret.name ?? '' }),
    node: node && pod === undefined ? read(nodes, { namespace: '', name: node.name ?? '' }) : undefined,
  };
}

async function confirmed(claims: TokenClaims['kubernetes.io'], objects: AccountObjects): Promise<FoundObjects> {
  const asked = findObjects(claims, objects, (reader, { namespace, name }) => reader.current(namespace, name));
  const [account, pod, secret, node] = await Promise.all([asked.account, asked.pod, asked.secret, asked.node]);
  return { account, pod, secret, node };
}
