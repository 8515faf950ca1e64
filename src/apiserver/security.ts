import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { AdmissionPlugin } from './admission/admission.ts';
import { certificateApproval } from './admission/plugins/certificate-approval.ts';
import { certificateSigning } from './admission/plugins/certificate-signing.ts';
import { certificateSubjectRestriction } from './admission/plugins/certificate-subject-restriction.ts';
import { clusterTrustBundleAttest } from './admission/plugins/cluster-trust-bundle-attest.ts';
import { rbacEscalation } from './admission/plugins/rbac-escalation.ts';
import type { Authenticator, TokenAuthenticator } from './authn/authenticator.ts';
import { BearerTokens } from './authn/bearer-tokens.ts';
import { bootstrapTokens } from './authn/bootstrap-tokens.ts';
import { clientCertificates } from './authn/client-certificates.ts';
import { type ObjectReader, objectReader } from './authn/object-reader.ts';
import { type RequestHeaderConfig, requestHeaders } from './authn/request-header.ts';
import type { AccountObjects } from './authn/service-accounts/account-objects.ts';
import { accountTokens } from './authn/service-accounts/account-tokens.ts';
import { type KeyMaterial, keySource } from './authn/service-accounts/keys.ts';
import { recordTokenUse } from './authn/service-accounts/legacy-token-use.ts';
import { legacyTokens } from './authn/service-accounts/legacy-tokens.ts';
import { SignedTokens } from './authn/service-accounts/signed-tokens.ts';
import { staticTokens } from './authn/static-tokens.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { NodeAuthorizer } from './authz/node/node-authorizer.ts';
import { alwaysAllow, alwaysDeny, privilegedGroups } from './authz/privileged-groups.ts';
import type { PolicyRule } from './authz/rbac/policy-rule.ts';
import { RBAC_GROUP, RbacAuthorizer } from './authz/rbac/rbac-authorizer.ts';
import { unionAuthorizer } from './authz/union-authorizer.ts';
import type { EgressSelector } from './egress/egress-selector.ts';
import { ExternalSecurity, type ExternalSecurityConfig } from './external-security.ts';
import type { ResourceHandlers } from './handlers/handler-table.ts';
import { openIdPaths, type PathHandler } from './handlers/openid-metadata.ts';
import { selfSubjectAccessReviews, subjectAccessReviews } from './handlers/reviews/access-reviews.ts';
import { selfSubjectRulesReviews } from './handlers/reviews/rules-review.ts';
import { tokenSubresource } from './handlers/reviews/token-requests.ts';
import { selfSubjectReviews, tokenReviews } from './handlers/reviews/token-reviews.ts';
import type { ResourceStorage } from './registry/generic/resource-storage.ts';
import type { ResourceTable } from './registry/generic/resource-table.ts';
import type { UserInfo } from './request/user.ts';

export type AuthorizationMode = 'Node' | 'RBAC' | 'ABAC' | 'Webhook' | 'AlwaysAllow' | 'AlwaysDeny';

/** Authentication and authorization settings. */
export interface SecurityConfig {
  readonly serviceAccounts: {
    /** The issuer of new tokens; `additionalIssuers` are accepted too. */
    readonly issuer: string;
    readonly additionalIssuers?: readonly string[];
    /** The accepted audiences. Default: the issuer. */
    readonly audiences?: readonly string[];
    readonly keys: KeyMaterial;
    readonly jwksUri?: string;
    readonly maxTokenExpirationSeconds?: number;
    /** Default true, as upstream. */
    readonly extendTokenExpiration?: boolean;
  };
  /** From a token file. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  readonly bootstrapTokens: boolean;
  /** Front proxies that may authenticate users. `clientAuthorities` (PEM) are the CAs of client certificates. */
  readonly frontProxy?: { readonly requestHeader: RequestHeaderConfig; readonly clientAuthorities: () => string };
  /** Authorizers in order, after the built-in rule for system:masters. */
  readonly authorizationModes: readonly AuthorizationMode[];
  /** The rules of the role `system:node`, for the mode `Node`. */
  readonly nodeRules: readonly PolicyRule[];
  /** Default: none. */
  readonly external?: ExternalSecurityConfig;
}

export interface SecurityContext {
  /** Filled later. */
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The identity of this server among those that share its store. */
  readonly apiServerId?: string | undefined;
  readonly egress?: EgressSelector | undefined;
  /** host:port under which clients reach the server. */
  readonly address: () => string;
}

/** The authentication and authorization parts of a server. */
export interface Security {
  readonly authenticators: readonly Authenticator[];
  readonly authorizer: Authorizer;
  /** Handlers of the reviews and the token subresource. */
  readonly handlers: ResourceHandlers;
  /** `/openid/v1/jwks` and the like. */
  readonly paths: readonly PathHandler[];
  /** Runs after all other mutating plugins, because the last of them checks escalation. */
  readonly admission: readonly AdmissionPlugin[];
  /** Whether a configuration allows anonymous requests for this path; undefined when not configured. */
  allowsAnonymous(path: string): boolean | undefined;
  /** Afterwards authorization is synchronous. */
  start(): Promise<void>;
  /** Follows configuration files until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Loads changed configuration files now. */
  reload(): void;
  /** Closes connections. */
  stop(): Promise<void>;
}

export function createSecurity(config: SecurityConfig, context: SecurityContext): Security {
  const { clock } = context;
  const { issuer, audiences = [issuer], keys, jwksUri, maxTokenExpirationSeconds, extendTokenExpiration = true } = config.serviceAccounts;
  const objects = accountObjects(context.table);
  const accountKeys = keySource(keys);
  const signed = new SignedTokens({ keys: accountKeys, clock });
  const rbac = new RbacAuthorizer(() => rbacStorages(context.table));
  const builtIn = (mode: ServerMode) => authorizerFor(mode, rbac, config, context);
  const disallowedIssuers = [issuer, ...(config.serviceAccounts.additionalIssuers ?? [])];
  const external = new ExternalSecurity(config.external ?? {}, { ...context, disallowedIssuers, builtIn });
  const own = tokenAuthenticators(config, context, { signed, objects, audiences });
  const tokens = new BearerTokens([...own, ...external.tokens], audiences);
  const authorizers = external.authorizer
    ? [external.authorizer]
    : config.authorizationModes.map((mode) => modeAuthorizer(mode, external, builtIn));
  const authorizer = unionAuthorizer([privilegedGroups, ...authorizers]);
  const issuing = {
    tokens: signed,
    objects,
    issuer,
    audiences,
    maxExpirationSeconds: maxTokenExpirationSeconds,
    extendExpiration: extendTokenExpiration,
  };
  const usesRbac = (external.authorizer?.modes ?? config.authorizationModes).includes('RBAC');
  return {
    authenticators: [...certificateAuthenticators(config, clock), tokens],
    authorizer,
    handlers: {
      verbs: reviewHandlers(authorizer, tokens),
      subresources: { '/serviceaccounts': keys.signing ? [tokenSubresource(issuing)] : [] },
    },
    paths: openIdPaths({ issuer, ...(jwksUri && { jwksUri }), address: context.address, keys: accountKeys }),
    admission: [
      certificateApproval(authorizer),
      certificateSigning(authorizer),
      clusterTrustBundleAttest(authorizer),
      certificateSubjectRestriction(),
      ...(usesRbac ? [rbacEscalation(rbac, authorizer)] : []),
    ],
    allowsAnonymous: (path) => external.allowsAnonymous(path),
    // A reloaded configuration may enable RBAC later.
    start: () => (usesRbac || external.authorizer !== undefined ? rbac.start() : Promise.resolve()),
    run: (signal) => external.run(signal),
    reload: () => external.reload(),
    stop: () => external.stop(),
  };
}

function certificateAuthenticators({ frontProxy }: SecurityConfig, clock: Clock): readonly Authenticator[] {
  if (frontProxy === undefined) return [clientCertificates(clock)];
  return [requestHeaders(frontProxy.requestHeader), clientCertificates(clock, frontProxy.clientAuthorities)];
}

function reviewHandlers(authorizer: Authorizer, tokens: BearerTokens): ResourceHandlers['verbs'] {
  const subject = { create: subjectAccessReviews(authorizer) };
  return {
    'authorization.k8s.io/subjectaccessreviews': subject,
    'authorization.k8s.io/localsubjectaccessreviews': subject,
    'authorization.k8s.io/selfsubjectaccessreviews': { create: selfSubjectAccessReviews(authorizer) },
    'authorization.k8s.io/selfsubjectrulesreviews': { create: selfSubjectRulesReviews(authorizer) },
    'authentication.k8s.io/tokenreviews': { create: tokenReviews(tokens) },
    'authentication.k8s.io/selfsubjectreviews': { create: selfSubjectReviews() },
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
    legacyTokens({ tokens, audiences, objects, used: recordTokenUse(() => storageOf(table, '', 'secrets'), context) }),
    accountTokens({ tokens, issuers: [issuer, ...additionalIssuers], audiences, objects, clock }),
    ...(config.bootstrapTokens ? [bootstrapTokens(objects.secrets, clock)] : []),
  ];
}

/** Modes without external services. */
type ServerMode = Exclude<AuthorizationMode, 'Webhook' | 'ABAC'>;

function modeAuthorizer(mode: AuthorizationMode, external: ExternalSecurity, builtIn: (mode: ServerMode) => Authorizer): Authorizer {
  if (mode === 'Webhook') return external.webhookAuthorizer();
  return mode === 'ABAC' ? external.abac() : builtIn(mode);
}

function authorizerFor(mode: ServerMode, rbac: RbacAuthorizer, { nodeRules }: SecurityConfig, { table }: SecurityContext): Authorizer {
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

/** Resolves the storage on first use: the table is filled later. */
function lazyReader(table: ResourceTable, resource: string): ObjectReader {
  let reader: ObjectReader | undefined;
  const getReader = () => (reader ??= objectReader(storageOf(table, '', resource)));
  return {
    cached: (namespace, name) => getReader().cached(namespace, name),
    current: (namespace, name) => getReader().current(namespace, name),
  };
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
