import { StatusError } from '#machinery';
import type { KubeObject } from '../../registry/kube-object.ts';
import { CREDENTIAL_ID, type UserInfo } from '../user.ts';
import type { ObjectClaim, TokenClaims } from './claims.ts';
import { serviceAccountGroups, serviceAccountUsername } from './username.ts';

/** Clocks of issuer and verifier may differ by this much; a deleted object keeps its tokens alive for as long. */
const LEEWAY_MS = 60_000;
const INVALIDATED = 'service account token has been invalidated';

/** Checks that a token counts at this time. */
export function checkTimes({ exp, nbf, iat }: Partial<TokenClaims>, now: number): void {
  if (typeof nbf === 'number' && now + LEEWAY_MS < nbf * 1000) throw new Error('service account token is not valid yet');
  if (typeof exp === 'number' && now - LEEWAY_MS > exp * 1000) throw new Error('service account token has expired');
  if (typeof iat === 'number' && now + LEEWAY_MS < iat * 1000) throw new Error('service account token is issued in the future');
}

/** The objects a token names, as they were found. */
export interface FoundObjects {
  readonly account: KubeObject | undefined;
  readonly pod: KubeObject | undefined;
  readonly secret: KubeObject | undefined;
  readonly node: KubeObject | undefined;
}

/** Checks that the account and what the token is bound to are still there, and still the same ones. */
export function checkObjects(claims: TokenClaims['kubernetes.io'], found: FoundObjects, now: number): void {
  checkAccount(claims, found.account, now);
  if (claims.secret) checkBound('secret', claims.secret, found.secret, now);
  if (claims.pod) checkBound('pod', claims.pod, found.pod, now);
  // For a pod's token the node is information only: the pod's life decides.
  else if (claims.node) checkBound('node', claims.node, found.node, now);
}

function checkAccount({ namespace, serviceaccount }: TokenClaims['kubernetes.io'], account: KubeObject | undefined, now: number): void {
  const { name = '', uid = '' } = serviceaccount;
  if (account === undefined) throw StatusError.notFound({ group: '', resource: 'serviceaccounts' }, name);
  const actual = account.metadata.uid ?? '';
  if (actual !== uid) throw new Error(`service account UID (${actual}) does not match claim (${uid})`);
  if (isGone(account, now)) throw new Error(`service account ${namespace}/${name} has been deleted`);
}

function checkBound(what: 'pod' | 'secret' | 'node', claim: ObjectClaim, object: KubeObject | undefined, now: number): void {
  if (object === undefined) throw new Error(INVALIDATED);
  const { uid = '' } = object.metadata;
  if (uid !== (claim.uid ?? ''))
    throw new Error(`${what} UID (${uid}) does not match service account ${what} ref claim (${claim.uid ?? ''})`);
  if (isGone(object, now)) throw new Error(INVALIDATED);
}

function isGone({ metadata }: KubeObject, now: number): boolean {
  return metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) < now - LEEWAY_MS;
}

/** The user that a token stands for. */
export function tokenUser({ jti, 'kubernetes.io': claims }: TokenClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims;
  const extra: Record<string, readonly string[]> = {};
  if (pod?.name && pod.uid) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (jti) extra[CREDENTIAL_ID] = [`JTI=${jti}`];
  if (node?.name) extra[NODE_NAME_KEY] = [node.name];
  if (node?.name && node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  return { ...accountUser(namespace, serviceaccount), ...(Object.keys(extra).length > 0 && { extra }) };
}

export function accountUser(namespace: string, { name = '', uid = '' }: ObjectClaim): UserInfo {
  return { name: serviceAccountUsername({ namespace, name }), uid, groups: serviceAccountGroups(namespace) };
}

export const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';
