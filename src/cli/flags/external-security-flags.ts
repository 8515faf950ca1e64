import path from 'node:path';
import { type ExternalSecurityConfig, parseAbacPolicies, SIGNING_ALGORITHMS } from '#apiserver';
import type { ApiServerSettings, OidcSettings } from '#cluster';
import type { CliContext } from '../context.ts';
import { kubeconfigFile } from './audit-flags.ts';
import { durationValue, type Flag, type FlagTable, fileText, listValue, oneOf } from './flag-table.ts';

const VERSIONS = ['v1beta1', 'v1'] as const;

const oidcFlag = (
  key: keyof OidcSettings,
  read: (value: string, context: CliContext) => unknown,
  words: { value: string; help: string; repeatable?: boolean },
): Flag<ApiServerSettings> => ({
  ...words,
  apply: (s, value, context) => ({ ...s, oidc: { ...s.oidc, [key]: read(value, context) } }),
});

/** Flags of external authentication and authorization, with upstream's names. */
export const EXTERNAL_SECURITY_FLAGS: FlagTable<ApiServerSettings> = {
  'authentication-config': {
    value: 'file',
    help: 'an AuthenticationConfiguration: issuers of tokens, and paths for anonymous requests; followed while the server runs',
    apply: (s, value, { cwd }) => withExternal(s, { authenticationConfig: path.resolve(cwd, value) }),
  },
  'authentication-token-webhook-config-file': {
    value: 'file',
    help: 'the kubeconfig of a token review webhook',
    apply: (s, value, context) => withTokenWebhook(s, { kubeconfig: kubeconfigFile(value, context) }),
  },
  'authentication-token-webhook-version': {
    value: 'version',
    help: 'of the TokenReview that it is sent: v1beta1 (default) or v1',
    apply: (s, value) => withTokenWebhook(s, { version: oneOf(value, VERSIONS) }),
  },
  'authentication-token-webhook-cache-ttl': {
    value: 'duration',
    help: 'how long its responses are cached (default 2m)',
    apply: (s, value) => withTokenWebhook(s, { cacheTtlMs: durationValue(value) }),
  },
  'authorization-config': {
    value: 'file',
    help: 'an AuthorizationConfiguration, instead of --authorization-mode; followed while the server runs',
    apply: (s, value, { cwd }) => withExternal(s, { authorizationConfig: path.resolve(cwd, value) }),
  },
  'authorization-policy-file': {
    value: 'file',
    help: 'policies of the mode ABAC, one JSON object a line',
    apply: (s, value, context) => withExternal(s, { abacPolicies: parseAbacPolicies(fileText(value, context), value) }),
  },
  'authorization-webhook-config-file': {
    value: 'file',
    help: 'a kubeconfig of the service that the mode Webhook asks',
    apply: (s, value, context) => withAuthorizationWebhook(s, { kubeconfig: kubeconfigFile(value, context) }),
  },
  'authorization-webhook-version': {
    value: 'version',
    help: 'of the SubjectAccessReview that it is sent: v1beta1 (default) or v1',
    apply: (s, value) => withAuthorizationWebhook(s, { version: oneOf(value, VERSIONS) }),
  },
  'authorization-webhook-cache-authorized-ttl': {
    value: 'duration',
    help: 'how long allowed decisions are cached (default 5m)',
    apply: (s, value) => withAuthorizationWebhook(s, { authorizedTtlMs: durationValue(value) }),
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    value: 'duration',
    help: 'how long denied decisions are cached (default 30s)',
    apply: (s, value) => withAuthorizationWebhook(s, { unauthorizedTtlMs: durationValue(value) }),
  },
  'oidc-issuer-url': oidcFlag('issuerUrl', (value) => value, {
    value: 'url',
    help: 'the OpenID Connect issuer whose ID tokens are accepted',
  }),
  'oidc-client-id': oidcFlag('clientId', (value) => value, { value: 'name', help: 'whom those tokens are for' }),
  'oidc-ca-file': oidcFlag('certificateAuthority', fileText, { value: 'file', help: "the authority of the issuer's certificate" }),
  'oidc-username-claim': oidcFlag('usernameClaim', (value) => value, {
    value: 'claim',
    help: 'the claim that names the user (default sub)',
  }),
  'oidc-username-prefix': oidcFlag('usernamePrefix', (value) => value, {
    value: 'text',
    help: 'what goes before names; - for nothing (default: the issuer and #, except for email)',
  }),
  'oidc-groups-claim': oidcFlag('groupsClaim', (value) => value, { value: 'claim', help: 'the claim that names groups' }),
  'oidc-groups-prefix': oidcFlag('groupsPrefix', (value) => value, { value: 'text', help: 'what goes before groups' }),
  'oidc-required-claim': oidcFlag('requiredClaims', requiredClaims, {
    value: 'claim=value',
    help: 'required claims and their values',
    repeatable: true,
  }),
  'oidc-signing-algs': oidcFlag('signingAlgorithms', (value) => listValue(value).map((name) => oneOf(name, SIGNING_ALGORITHMS)), {
    value: 'names',
    help: 'allowed signing algorithms (default RS256)',
    repeatable: true,
  }),
};

function requiredClaims(value: string): readonly { claim: string; requiredValue: string }[] {
  return listValue(value).map((pair) => {
    const [, claim, requiredValue] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (claim === undefined || requiredValue === undefined) throw new Error(`'${pair}' is not of the form claim=value`);
    return { claim, requiredValue };
  });
}

function withExternal(settings: ApiServerSettings, external: ExternalSecurityConfig): ApiServerSettings {
  return { ...settings, external: { ...settings.external, ...external } };
}

function withTokenWebhook(
  settings: ApiServerSettings,
  change: Partial<NonNullable<ExternalSecurityConfig['tokenWebhook']>>,
): ApiServerSettings {
  return { ...settings, tokenWebhook: { ...settings.tokenWebhook, ...change } };
}

function withAuthorizationWebhook(
  settings: ApiServerSettings,
  change: Partial<NonNullable<ExternalSecurityConfig['authorizationWebhook']>>,
): ApiServerSettings {
  return { ...settings, authorizationWebhook: { ...settings.authorizationWebhook, ...change } };
}
