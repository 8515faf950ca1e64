import type { Clock, Logger } from '#base';
import type { AdmissionPlugin } from './admission/admission.ts';
import { certificateApproval } from './admission/plugins/certificate-approval.ts';
import { certificateSigning } from './admission/plugins/certificate-signing.ts';
import { certificateSubjectRestriction } from './admission/plugins/certificate-subject-restriction.ts';
import type { Authenticator, TokenAuthenticator } from './authn/authenticator.ts';
import { BearerTokens } from './authn/bearer-tokens.ts';
import { bootstrapTokens } from './authn/bootstrap-tokens.ts';
import { clientCertificates } from './authn/client-certificates.ts';
import { type ObjectReader, objectReader } from './authn/object-reader.ts';
import type { AccountObjects } from './authn/service-accounts/account-objects.ts';
import { accountTokens } from './authn/service-accounts/account-tokens.ts';
import { type KeyMaterial, keySource } from './authn/service-accounts/keys.ts';
import { noteTokenUse } from './authn/service-accounts/legacy-token-use.ts';
import { legacyTokens } from './authn/service-accounts/legacy-tokens.ts';
import { openIdPaths, type PathHandler } from './authn/service-accounts/openid-metadata.ts';
import { SignedTokens } from './authn/service-accounts/signed-tokens.ts';
import { staticTokens } from './authn/static-tokens.ts';
import type { UserInfo } from './authn/user.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { NodeAuthorizer } from './authz/node/node-authorizer.ts';
import { alwaysAllow, alwaysDeny, privilegedGroups } from './authz/privileged-groups.ts';
import { rbacEscalation } from './authz/rbac/escalation.ts';
import type { PolicyRule } from './authz/rbac/policy-rule.ts';
import { RBAC_GROUP, RbacAuthorizer } from './authz/rbac/rbac-authorizer.ts';
import { unionAuthorizer } from './authz/union-authorizer.ts';
import type { HandlerDeps } from './handlers/resource-call.ts';
import { selfSubjectAccessReviews, subjectAccessReviews } from './handlers/reviews/access-reviews.ts';
import { selfSubjectRulesReviews } from './handlers/reviews/rules-review.ts';
import { tokenSubresource } from './handlers/reviews/token-requests.ts';
import { selfSubjectReviews, tokenReviews } from './handlers/reviews/token-reviews.ts';
import type { CatalogOptions } from './registry/catalog.ts';
import type { ResourceStorage } from './registry/resource-storage.ts';
import type { ResourceTable } from './registry/resource-table.ts';

export type AuthorizationMode = 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny';

/** How the server finds out who asks, and what they may do. */
export interface SecurityConfig {
  readonly serviceAccounts: {
    /** Signs new tokens; those of `additionalIssuers` count too. */
    readonly issuer: string;
    readonly additionalIssuers?: readonly string[];
    /** Whom tokens are for that are used with this server. Default: the issuer. */
    readonly audiences?: readonly string[];
    readonly keys: KeyMaterial;
    readonly jwksUri?: string;
    readonly maxTokenExpirationSeconds?: number;
    /** Default true, as upstream. */
    readonly extendTokenExpiration?: boolean;
  };
  /** As a token file has them. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  readonly bootstrapTokens: boolean;
  /** Asked in this order, after the group system:masters, which may do everything. */
  readonly authorizationModes: readonly AuthorizationMode[];
  /** The rules of the role `system:node`: what the mode `Node` lets every node do. */
  readonly nodeRules: readonly PolicyRule[];
}

export interface SecurityContext {
  /** Filled after this was made. */
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly logger: Logger;
  /** host:port under which clients reach the server. */
  readonly address: () => string;
  readonly handlers: () => HandlerDeps;
}

/** The parts of the server that know who may do what. */
export interface Security {
  readonly authenticators: readonly Authenticator[];
  readonly authorizer: Authorizer;
  /** The reviews and the token subresource, for the catalog. */
  readonly subresources: CatalogOptions['subresources'];
  readonly extras: CatalogOptions['extras'];
  /** `/openid/v1/jwks` and the like. */
  readonly paths: readonly PathHandler[];
  /** To run after all other mutating plugins, for the last of them checks what is about to be granted. */
  readonly admission: readonly AdmissionPlugin[];
  /** Afterwards authorization answers at once. */
  start(): Promise<void>;
}

export function createSecurity(config: SecurityConfig, context: SecurityContext): Security {
  const { clock, handlers } = context;
  const { issuer, audiences = [issuer], keys, jwksUri, maxTokenExpirationSeconds, extendTokenExpiration = true } = config.serviceAccounts;
  const objects = accountObjects(context.table);
  const accountKeys = keySource(keys);
  const signed = new SignedTokens({ keys: accountKeys, clock });
  const tokens = new BearerTokens(tokenAuthenticators(config, context, { signed, objects, audiences }), audiences);
  const rbac = new RbacAuthorizer(() => rbacStorages(context.table));
  const authorizer = unionAuthorizer([
    privilegedGroups,
    ...config.authorizationModes.map((mode) => authorizerFor(mode, rbac, config, context)),
  ]);
  const issuing = {
    tokens: signed,
    objects,
    issuer,
    audiences,
    maxExpirationSeconds: maxTokenExpirationSeconds,
    extendExpiration: extendTokenExpiration,
  };
  const usesRbac = config.authorizationModes.includes('RBAC');
  return {
    authenticators: [clientCertificates(clock), tokens],
    authorizer,
    subresources: { '/serviceaccounts': keys.signing ? [tokenSubresource(issuing, handlers)] : [] },
    extras: reviewHandlers(authorizer, tokens, handlers),
    paths: openIdPaths({ issuer, ...(jwksUri && { jwksUri }), address: context.address, keys: accountKeys }),
    admission: [
      certificateApproval(authorizer),
      certificateSigning(authorizer),
      certificateSubjectRestriction(),
      ...(usesRbac ? [rbacEscalation(rbac, authorizer)] : []),
    ],
    start: () => (usesRbac ? rbac.start() : Promise.resolve()),
  };
}

function reviewHandlers(authorizer: Authorizer, tokens: BearerTokens, handlers: () => HandlerDeps): CatalogOptions['extras'] {
  const subject = { handlers: { create: subjectAccessReviews(authorizer, handlers) } };
  return {
    'authorization.k8s.io/subjectaccessreviews': subject,
    'authorization.k8s.io/localsubjectaccessreviews': subject,
    'authorization.k8s.io/selfsubjectaccessreviews': { handlers: { create: selfSubjectAccessReviews(authorizer, handlers) } },
    'authorization.k8s.io/selfsubjectrulesreviews': { handlers: { create: selfSubjectRulesReviews(authorizer, handlers) } },
    'authentication.k8s.io/tokenreviews': { handlers: { create: tokenReviews(tokens, handlers) } },
    'authentication.k8s.io/selfsubjectreviews': { handlers: { create: selfSubjectReviews(handlers) } },
  };
}

interface TokenParts {
  readonly signed: SignedTokens;
  readonly objects: AccountObjects;
  readonly audiences: readonly string[];
}

function tokenAuthenticators(config: SecurityConfig, context: SecurityContext, parts: TokenParts): readonly TokenAuthenticator[] {
  const { clock, table } = context;
  const { signed: tokens, objects, audiences } = parts;
  const { issuer, additionalIssuers = [] } = config.serviceAccounts;
  return [
    ...(config.staticTokens ? [staticTokens(config.staticTokens)] : []),
    legacyTokens({ tokens, audiences, objects, used: noteTokenUse(() => storageOf(table, '', 'secrets'), context) }),
    accountTokens({ tokens, issuers: [issuer, ...additionalIssuers], audiences, objects, clock }),
    ...(config.bootstrapTokens ? [bootstrapTokens(objects.secrets, clock)] : []),
  ];
}

function authorizerFor(
  mode: AuthorizationMode,
  rbac: RbacAuthorizer,
  { nodeRules }: SecurityConfig,
  { table }: SecurityContext,
): Authorizer {
  switch (mode) {
    case 'Node':
      return new NodeAuthorizer({ storages: () => nodeStorages(table), rules: nodeRules });
    case 'RBAC':
      return rbac;
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
  }
}

function storageOf(table: ResourceTable, group: string, resource: string): ResourceStorage {
  const storage = findStorage(table, group, resource);
  if (storage === undefined) throw new Error(`${resource} are not served`);
  return storage;
}

function findStorage(table: ResourceTable, group: string, resource: string): ResourceStorage | undefined {
  for (const version of table.versions(group)) {
    const storage = table.find(group, version, resource)?.storage;
    if (storage !== undefined) return storage;
  }
  return undefined;
}

/** Finds the storage when it is first needed: the table is filled later than this is made. */
function lazyReader(table: ResourceTable, resource: string): ObjectReader {
  let reader: ObjectReader | undefined;
  const found = () => (reader ??= objectReader(storageOf(table, '', resource)));
  return { known: (namespace, name) => found().known(namespace, name), current: (namespace, name) => found().current(namespace, name) };
}

function accountObjects(table: ResourceTable): AccountObjects {
  return {
    serviceAccounts: lazyReader(table, 'serviceaccounts'),
    pods: lazyReader(table, 'pods'),
    secrets: lazyReader(table, 'secrets'),
    nodes: lazyReader(table, 'nodes'),
  };
}

function rbacStorages(table: ResourceTable) {
  return {
    roles: storageOf(table, RBAC_GROUP, 'roles'),
    roleBindings: storageOf(table, RBAC_GROUP, 'rolebindings'),
    clusterRoles: storageOf(table, RBAC_GROUP, 'clusterroles'),
    clusterRoleBindings: storageOf(table, RBAC_GROUP, 'clusterrolebindings'),
  };
}

function nodeStorages(table: ResourceTable) {
  const volumeAttachments = findStorage(table, 'storage.k8s.io', 'volumeattachments');
  const resourceSlices = findStorage(table, 'resource.k8s.io', 'resourceslices');
  const podCertificateRequests = findStorage(table, 'certificates.k8s.io', 'podcertificaterequests');
  return {
    pods: storageOf(table, '', 'pods'),
    persistentVolumes: storageOf(table, '', 'persistentvolumes'),
    ...(volumeAttachments && { volumeAttachments }),
    ...(resourceSlices && { resourceSlices }),
    ...(podCertificateRequests && { podCertificateRequests }),
  };
}
