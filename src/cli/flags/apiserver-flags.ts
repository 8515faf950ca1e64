import { getCiphers, type SecureVersion } from 'node:tls';
import { type AuthorizationMode, DEFAULT_SERVICES, PLUGIN_ORDER, type PluginName, parseTokenFile } from '#apiserver';
import type { ApiServerSettings, ServiceAccountSettings, ServingLimits } from '#cluster';
import { booleanValue, durationValue, type FlagTable, fileText, listValue, oneOf, wholeNumberValue } from './flag-table.ts';

const TLS_VERSIONS: Readonly<Record<string, SecureVersion>> = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' };

const MODES: readonly AuthorizationMode[] = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'];

/** Flags of upstream's API server that mean the same wherever it runs. */
export const APISERVER_FLAGS: FlagTable<ApiServerSettings> = {
  'advertise-address': {
    value: 'address',
    help: 'under which address others reach the server',
    apply: (s, value) => ({ ...s, advertiseAddress: value }),
  },
  'anonymous-auth': {
    value: 'bool',
    help: 'whether requests without credentials are anonymous',
    apply: (s, value) => ({ ...s, anonymousAuth: booleanValue(value) }),
  },
  'authorization-mode': {
    value: 'modes',
    help: 'authorizers, in order, separated by commas',
    apply: (s, value) => ({ ...s, authorizationModes: listValue(value).map((mode) => oneOf(mode, MODES)) }),
  },
  'api-audiences': {
    value: 'audiences',
    help: 'whom tokens are for that are used with this server; the issuer by default',
    repeatable: true,
    apply: (s, value) => withAccounts(s, { audiences: listValue(value) }),
  },
  'allow-privileged': {
    value: 'bool',
    help: 'true: privileged containers are a matter of pod security, as they are here',
    apply: (s, value) => {
      if (!booleanValue(value)) throw new Error('privileged containers are refused by pod security levels, not for the whole cluster');
      return s;
    },
  },
  'default-not-ready-toleration-seconds': {
    value: 'seconds',
    help: 'how long pods stay on a node that is not ready',
    apply: (s, value) => withTolerations(s, { notReadySeconds: wholeNumberValue(value) }),
  },
  'default-unreachable-toleration-seconds': {
    value: 'seconds',
    help: 'how long pods stay on a node that is out of reach',
    apply: (s, value) => withTolerations(s, { unreachableSeconds: wholeNumberValue(value) }),
  },
  'disable-admission-plugins': {
    value: 'names',
    help: 'admission plugins that do not run',
    repeatable: true,
    apply: (s, value) => ({ ...s, admission: { ...s.admission, disabled: pluginNames(value) } }),
  },
  'enable-admission-plugins': {
    value: 'names',
    help: 'admission plugins that run; all that there are do by default',
    repeatable: true,
    apply: (s, value) => {
      const enabled = pluginNames(value);
      const disabled = (s.admission?.disabled ?? []).filter((name) => enabled.includes(name));
      if (disabled.length > 0) throw new Error(`${disabled.join(', ')} would be both enabled and disabled`);
      return s;
    },
  },
  'enable-bootstrap-token-auth': {
    value: 'bool',
    help: 'whether bootstrap tokens in kube-system are accepted',
    apply: (s, value) => ({ ...s, bootstrapTokens: booleanValue(value) }),
  },
  'event-ttl': {
    value: 'duration',
    help: 'how long events are kept',
    apply: (s, value) => withLimits(s, { eventTtlSeconds: Math.ceil(durationValue(value) / 1000) }),
  },
  'http2-max-streams-per-connection': {
    value: 'number',
    help: 'how many requests one connection may have open',
    apply: (s, value) => withLimits(s, { maxStreamsPerConnection: wholeNumberValue(value) }),
  },
  'min-request-timeout': {
    value: 'seconds',
    help: 'how long a watch lasts at least whose client does not say',
    apply: (s, value) => withLimits(s, { minWatchTimeoutMs: wholeNumberValue(value) * 1000 }),
  },
  'request-timeout': {
    value: 'duration',
    help: 'how long a request may take, watches aside',
    apply: (s, value) => withLimits(s, { requestTimeoutMs: durationValue(value) }),
  },
  'service-account-extend-token-expiration': {
    value: 'bool',
    help: 'whether tokens of pods live for a year where clients may not reload them',
    apply: (s, value) => withAccounts(s, { extendTokenExpiration: booleanValue(value) }),
  },
  'service-account-issuer': {
    value: 'urls',
    help: 'the issuer of service account tokens; tokens of further ones are accepted',
    repeatable: true,
    apply: (s, value) => {
      const [issuer, ...additionalIssuers] = listValue(value);
      if (issuer === undefined) throw new Error('the issuer has no name');
      return { ...withAccounts(s, { additionalIssuers }), serviceAccountIssuer: issuer };
    },
  },
  'service-account-jwks-uri': {
    value: 'url',
    help: 'where clients find the keys of service account tokens',
    apply: (s, value) => withAccounts(s, { jwksUri: value }),
  },
  'service-account-key-file': {
    value: 'files',
    help: 'further keys that service account tokens may be signed with',
    repeatable: true,
    apply: (s, value, context) => withAccounts(s, { verificationKeys: listValue(value).map((file) => fileText(file, context)) }),
  },
  'service-account-max-token-expiration': {
    value: 'duration',
    help: 'how long service account tokens live at most',
    apply: (s, value) => withAccounts(s, { maxTokenExpirationSeconds: Math.floor(durationValue(value) / 1000) }),
  },
  'service-cluster-ip-range': {
    value: 'ranges',
    help: 'ranges of service addresses, one or one of each family',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), clusterIpRanges: listValue(value) } }),
  },
  'service-node-port-range': {
    value: 'first-last',
    help: 'the range of node ports',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), nodePortRange: portRange(value) } }),
  },
  'shutdown-delay-duration': {
    value: 'duration',
    help: 'how long the server goes on after /readyz has begun to fail',
    apply: (s, value) => withLimits(s, { shutdownDelayMs: durationValue(value) }),
  },
  'tls-cipher-suites': {
    value: 'names',
    help: 'ciphers that clients may use, separated by commas',
    repeatable: true,
    apply: (s, value) => ({ ...s, tls: { ...s.tls, ciphers: cipherNames(value) } }),
  },
  'tls-min-version': {
    value: 'version',
    help: `the oldest version of TLS: ${Object.keys(TLS_VERSIONS).join(', ')}`,
    apply: (s, value) => ({ ...s, tls: { ...s.tls, minVersion: TLS_VERSIONS[oneOf(value, Object.keys(TLS_VERSIONS))]! } }),
  },
  'token-auth-file': {
    value: 'file',
    help: 'a file of lines token,user,uid,"group1,group2"',
    apply: (s, value, context) => ({ ...s, staticTokens: parseTokenFile(fileText(value, context)) }),
  },
};

function withAccounts(settings: ApiServerSettings, accounts: ServiceAccountSettings): ApiServerSettings {
  return { ...settings, serviceAccounts: { ...settings.serviceAccounts, ...accounts } };
}

function withLimits(settings: ApiServerSettings, limits: ServingLimits): ApiServerSettings {
  return { ...settings, limits: { ...settings.limits, ...limits } };
}

function withTolerations(
  settings: ApiServerSettings,
  seconds: { notReadySeconds?: number; unreachableSeconds?: number },
): ApiServerSettings {
  const tolerations = { notReadySeconds: 300, unreachableSeconds: 300, ...settings.admission?.tolerations, ...seconds };
  return { ...settings, admission: { ...settings.admission, tolerations } };
}

function pluginNames(value: string): readonly PluginName[] {
  return listValue(value).map((name) => oneOf(name, PLUGIN_ORDER));
}

/** Node calls ciphers as OpenSSL does; those of TLS 1.3 have one name everywhere. */
function cipherNames(value: string): string {
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  const names = listValue(value).map((name) => (name.startsWith('TLS_AES') || name.startsWith('TLS_CHACHA20') ? name : opensslName(name)));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`'${unknown}' is no cipher that this server has`);
  return names.join(':');
}

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: ECDHE-RSA-AES128-GCM-SHA256. */
function opensslName(name: string): string {
  return name
    .replace(/^TLS_/, '')
    .replace('_WITH_', '_')
    .replace(/AES_(\d+)/, 'AES$1')
    .replace('CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305')
    .replaceAll('_', '-');
}

function portRange(value: string): { first: number; last: number } {
  const [, first = '', last = ''] = /^(\d+)-(\d+)$/.exec(value) ?? [];
  if (first === '' || Number(first) > Number(last) || Number(last) > 65535) throw new Error(`'${value}' is no range of ports`);
  return { first: Number(first), last: Number(last) };
}
