import { StatusError } from '#machinery';
import { CREDENTIAL_ID, type UserInfo } from '../../request/user.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ObjectClaim, TokenClaims } from './claims.ts';
import { serviceAccountGroups, serviceAccountUsername } from './username.ts';

/** The leeway for clock skew, and for deleted objects. */
const LEEWAY_MS = 60_000;
const INVALIDATED = 'service account token has been invalidated';

/** Checks `exp`, `nbf` and `iat`. */
export function checkTimes({ exp, nbf, iat }: Partial<TokenClaims>, now: number): void {
  if (typeof nbf === 'number' && now + LEEWAY_MS < nbf * 1000) throw new Error('service account token is not valid yet');
  if (typeof exp === 'number' && now - LEEWAY_MS > exp * 1000) throw new Error('service account token has expired');
  if (typeof iat === 'number' && now + LEEWAY_MS < iat * 1000) throw new Error('service account token is issued in the future');
}

/** The objects that a token is bound to. */
export interface BoundObjects {
  readonly account: KubeObject | undefined;
  readonly pod: KubeObject | undefined;
  readonly secret: KubeObject | undefined;
  readonly node: KubeObject | undefined;
}

/** Checks that the service account and the bound objects exist with the same uid. */
export function checkObjects(claims: TokenClaims['kubernetes.io'], objects: BoundObjects, now: number): void {
  checkAccount(claims, objects.account, now);
  if (claims.secret) checkBound('secret', claims.secret, objects.secret, now);
  if (claims.pod) checkBound('pod', claims.pod, objects.pod, now);
  // For pod-bound tokens the node is informational: the pod decides.
  else if (claims.node) checkBound('node', claims.node, objects.node, now);
}

function checkAccount({ namespace, serviceaccount }: TokenClaims['kubernetes.io'], account: KubeObject | undefined, now: number): void {
  const { name = '', uid = '' } = serviceaccount;
  if (account === undefined) throw StatusError.notFound({ group: '', resource: 'serviceaccounts' }, name);
  const actual = account.metadata.uid ?? '';
  if (actual !== uid) throw new Error(`service account UID (${actual}) does not match claim (${uid})`);
  if (isGone(account, now)) throw new Error(`service account ${namespace}/${name} has been deleted`);
}

function checkBound(kind: 'pod' | 'secret' | 'node', claim: ObjectClaim, object: KubeObject | undefined, now: number): void {
  if (object === undefined) throw new Error(INVALIDATED);
  const { uid = '' } = object.metadata;
  if (uid !== (claim.uid ?? ''))
    throw new Error(`${kind} UID (${uid}) does not match service account ${kind} ref claim (${claim.uid ?? ''})`);
  if (isGone(object, now)) throw new Error(INVALIDATED);
}

function isGone({ metadata }: KubeObject, now: number): boolean {
  return metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) < now - LEEWAY_MS;
}

/** The user of a token. */
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
