import { authentication, type core } from '#api';
import { lookupTable } from '#base';
import { FieldError, formatTime, type GroupVersion, Path, parseGroupVersion, StatusError } from '#machinery';
import type { AccountObjects } from '../../authn/service-accounts/account-objects.ts';
import { type BoundObjects, tokenClaims } from '../../authn/service-accounts/claims.ts';
import type { SignedTokens } from '../../authn/service-accounts/signed-tokens.ts';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import { type ApiRequest, warn } from '../../request/api-request.ts';
import { type KubeObject, withMetadata } from '../../watch-cache/kube-object.ts';
import type { ApiResponse } from '../api-response.ts';
import type { HandledSubresource } from '../handler-table.ts';
import type { HandlerDeps, ResourceCall } from '../resource-call.ts';
import { admitReview, createdResponse, readReview, validateReview } from './review-call.ts';

const TOKEN_REQUEST = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } as const;
/** The lifetime that kubelets request for pods that may not reload tokens. */
const WARN_ONLY_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

export interface TokenRequestOptions {
  readonly tokens: SignedTokens;
  readonly objects: AccountObjects;
  readonly issuer: string;
  /** The API server's own audiences. */
  readonly audiences: readonly string[];
  readonly maxExpirationSeconds?: number | undefined;
  /** Extends such tokens to one year, and records their use after the requested hour. */
  readonly extendExpiration: boolean;
}

/** The `token` subresource of service accounts. */
export function tokenSubresource(options: TokenRequestOptions): HandledSubresource {
  return { name: 'token', kind: TOKEN_REQUEST, verbs: ['create'], handler: (call) => issueToken(call, options) };
}

async function issueToken(accountCall: ResourceCall, options: TokenRequestOptions): Promise<ApiResponse> {
  const { request, deps } = accountCall;
  const call = asTokenRequest(accountCall);
  const review = await readReview(call);
  const admitted = await admitReview({ ...review, call: accountCall });
  const account = await accountFor(admitted, call, options);
  const completed = complete(admitted, account, { audiences: options.audiences, now: deps.clock.now() });
  const errors = authentication.validateTokenRequest(completed as unknown as authentication.TokenRequest);
  if (errors.length > 0) throw StatusError.invalid(TOKEN_REQUEST, '', errors);
  await validateReview({ ...review, call: accountCall, review: completed });
  const bound = await boundObjects(specOf(completed).boundObjectRef ?? undefined, call, options.objects);
  const limited = limitExpiration(completed, options, request);
  return createdResponse(call.resource, await withToken({ review: limited, account, bound }, options, deps));
}

/** The request as one for a TokenRequest, though its path is that of the service account. */
function asTokenRequest(call: ResourceCall): ResourceCall<ServedResource> {
  const resource: ServedResource = {
    ...call.resource,
    ...TOKEN_REQUEST,
    apiVersion: 'authentication.k8s.io/v1',
    schema: authentication.TokenRequest,
    strategy: { kind: call.resource.strategy.kind, defaults: (object) => authentication.defaultTokenRequest(object as never) as never },
    storage: undefined,
  };
  return { ...call, resource };
}

function specOf(review: KubeObject): authentication.TokenRequestSpec {
  return (review.spec ?? {}) as authentication.TokenRequestSpec;
}

async function accountFor(review: KubeObject, call: ResourceCall<ServedResource>, { objects }: TokenRequestOptions): Promise<KubeObject> {
  const { name, namespace } = call;
  const { name: bodyName = '', uid = '' } = review.metadata ?? {};
  if (bodyName !== '' && bodyName !== name) {
    const error = FieldError.invalid(Path.of('metadata', 'name'), bodyName, 'must match the service account name if specified');
    throw StatusError.invalid(TOKEN_REQUEST, name, [error]);
  }
  const account = await objects.serviceAccounts.current(namespace, name);
  if (account === undefined) throw StatusError.notFound({ group: '', resource: 'serviceaccounts' }, name);
  const actual = account.metadata.uid ?? '';
  if (uid === '' || uid === actual) return account;
  const detail = `the UID in the token request (${uid}) does not match the UID of the service account (${actual})`;
  throw StatusError.conflict({ group: TOKEN_REQUEST.group, resource: TOKEN_REQUEST.kind }, name, detail);
}

function complete(review: KubeObject, account: KubeObject, { audiences, now }: { audiences: readonly string[]; now: number }): KubeObject {
  const spec = specOf(review);
  const { name, namespace, uid } = account.metadata;
  const metadata = { name, namespace, uid, creationTimestamp: formatTime(now) } as Partial<KubeObject['metadata']>;
  return { ...withMetadata(review, metadata), spec: spec.audiences?.length ? spec : { ...spec, audiences } };
}

async function boundObjects(
  reference: authentication.BoundObjectReference | undefined,
  call: ResourceCall<ServedResource>,
  objects: AccountObjects,
): Promise<BoundObjects> {
  if (reference === undefined) return {};
  const { kind = '', apiVersion = '', name = '' } = reference;
  const { group, version } = groupVersionOf(apiVersion);
  const find = group === '' && Object.hasOwn(BINDERS, kind) ? BINDERS[kind] : undefined;
  if (find === undefined) throw StatusError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  if (name === '') throw StatusError.badRequest('Name parameter required.');
  const { bound, uid } = await find(name, call, objects);
  if (!reference.uid || reference.uid === uid) return bound;
  const detail = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw StatusError.conflict({ group, resource: kind }, name, detail);
}

/** An unparsable apiVersion counts as the core group. */
function groupVersionOf(apiVersion: string): GroupVersion {
  return apiVersion.split('/').length > 2 ? { group: '', version: '' } : parseGroupVersion(apiVersion);
}

interface TokenBinding {
  readonly bound: BoundObjects;
  readonly uid: string | undefined;
}
type Binder = (name: string, call: ResourceCall<ServedResource>, objects: AccountObjects) => Promise<TokenBinding>;

const BINDERS = lookupTable<Binder>({
  Pod: async (name, call, { pods, nodes }) => {
    const pod = present(await pods.current(call.namespace, name), 'pods', name);
    const { serviceAccountName = '', nodeName = '' } = (pod as unknown as core.Pod).spec ?? {};
    if (serviceAccountName !== call.name) {
      throw StatusError.badRequest(
        `cannot bind token for serviceaccount "${call.name}" to pod running with different serviceaccount name.`,
      );
    }
    // A token may be bound to a pod whose node no longer exists.
    const node = nodeName === '' ? undefined : ((await nodes.current('', nodeName)) ?? { metadata: { name: nodeName } });
    return { bound: { pod, ...(node && { node }) }, uid: pod.metadata.uid };
  },
  Secret: async (name, { namespace }, { secrets }) => {
    const secret = present(await secrets.current(namespace, name), 'secrets', name);
    return { bound: { secret }, uid: secret.metadata.uid };
  },
  Node: async (name, _call, { nodes }) => {
    const node = present(await nodes.current('', name), 'nodes', name);
    return { bound: { node }, uid: node.metadata.uid };
  },
});

function present(object: KubeObject | undefined, resource: string, name: string): KubeObject {
  if (object === undefined) throw StatusError.notFound({ group: '', resource }, name);
  return object;
}

function limitExpiration(review: KubeObject, { maxExpirationSeconds }: TokenRequestOptions, request: ApiRequest): KubeObject {
  const seconds = specOf(review).expirationSeconds ?? 0;
  if (!maxExpirationSeconds || seconds <= maxExpirationSeconds) return review;
  warn(request, `requested expiration of ${seconds} seconds shortened to ${maxExpirationSeconds} seconds`);
  return { ...review, spec: { ...specOf(review), expirationSeconds: maxExpirationSeconds } };
}

interface TokenIssue {
  readonly review: KubeObject;
  readonly account: KubeObject;
  readonly bound: BoundObjects;
}

async function withToken(
  { review, account, bound }: TokenIssue,
  options: TokenRequestOptions,
  { clock, random }: HandlerDeps,
): Promise<KubeObject> {
  const { audiences = [], expirationSeconds } = specOf(review);
  const seconds = Number(expirationSeconds ?? 0);
  const isForServer = (audiences ?? []).every((audience) => options.audiences.includes(audience));
  const isExtended = options.extendExpiration && bound.pod !== undefined && seconds === WARN_ONLY_SECONDS && isForServer;
  const claims = tokenClaims({
    account,
    bound,
    issuer: options.issuer,
    audiences: audiences ?? [],
    expirationSeconds: isExtended ? Math.max(EXTENDED_SECONDS, seconds) : seconds,
    warnAfterSeconds: isExtended ? seconds : 0,
    now: clock.now(),
    id: random.uuid(),
  });
  const expirationTimestamp = formatTime((claims.iat + seconds) * 1000);
  return { ...review, status: { token: await options.tokens.sign(claims), expirationTimestamp } };
}
