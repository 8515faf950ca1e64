import type { ExternalSecurityConfig, JwtConfiguration } from '#apiserver';

/** Settings of the `--oidc-*` flags. */
export interface OidcSettings {
  readonly issuerUrl?: string;
  readonly clientId?: string;
  readonly certificateAuthority?: string;
  readonly usernameClaim?: string;
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix?: string;
  readonly requiredClaims?: readonly { readonly claim: string; readonly requiredValue: string }[];
  readonly signingAlgorithms?: readonly string[];
}

/** Authentication and authorization settings from flags. */
export interface ExternalSecuritySettings {
  readonly oidc?: OidcSettings;
  readonly external?: ExternalSecurityConfig;
  readonly tokenWebhook?: Partial<NonNullable<ExternalSecurityConfig['tokenWebhook']>>;
  readonly authorizationWebhook?: Partial<NonNullable<ExternalSecurityConfig['authorizationWebhook']>>;
}

/** Throws on conflicting or incomplete settings. */
export function externalSecurity(settings: ExternalSecuritySettings, hasModes: boolean): ExternalSecurityConfig {
  const { external = {}, oidc, tokenWebhook, authorizationWebhook } = settings;
  if (oidc !== undefined && external.authenticationConfig !== undefined)
    throw new Error('authentication-config file and oidc-* flags are mutually exclusive');
  if (hasModes && external.authorizationConfig !== undefined)
    throw new Error('--authorization-config and --authorization-mode are mutually exclusive; give one of them');
  return {
    ...external,
    ...(oidc && { oidc: oidcConfiguration(oidc) }),
    ...(tokenWebhook?.kubeconfig && {
      tokenWebhook: { version: 'v1beta1', cacheTtlMs: 120_000, kubeconfig: tokenWebhook.kubeconfig, ...tokenWebhook },
    }),
    ...(authorizationWebhook?.kubeconfig && {
      authorizationWebhook: {
        ...{ version: 'v1beta1', authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000 },
        kubeconfig: authorizationWebhook.kubeconfig,
        ...authorizationWebhook,
      },
    }),
  };
}

function oidcConfiguration(oidc: OidcSettings): JwtConfiguration {
  const { issuerUrl = '', clientId = '', certificateAuthority, usernameClaim = 'sub', groupsClaim, requiredClaims = [] } = oidc;
  if (issuerUrl === '' || clientId === '')
    throw new Error('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
  if (!issuerUrl.startsWith('https://')) throw new Error(`oidc-issuer-url: '${issuerUrl}' must be of https`);
  return {
    issuer: { url: issuerUrl, certificateAuthority, audiences: [clientId] },
    claimValidationRules: requiredClaims,
    claimMappings: {
      username: { claim: usernameClaim, prefix: usernamePrefix(oidc) },
      groups: groupsClaim === undefined ? undefined : { claim: groupsClaim, prefix: oidc.groupsPrefix ?? '' },
      extra: [],
    },
    userValidationRules: [],
    signingAlgorithms: oidc.signingAlgorithms ?? ['RS256'],
  };
}

/** Prefixed by the issuer to avoid collisions; e-mail addresses are unique. */
function usernamePrefix({ issuerUrl = '', usernameClaim = 'sub', usernamePrefix: prefix }: OidcSettings): string {
  if (prefix === '-') return '';
  return prefix ?? (usernameClaim === 'email' ? '' : `${issuerUrl}#`);
}
