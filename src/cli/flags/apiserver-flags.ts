import path from 'node:path';
import {
  type AuthorizationMode,
  DEFAULT_SERVICES,
  enablementOf,
  OPTIONAL_PLUGINS,
  type OptionalPluginName,
  PLUGIN_ORDER,
  type PluginName,
  parseRuntimeConfig,
  parseTokenFile,
  parseTracingConfiguration,
  readAdmissionConfiguration,
} from '#apiserver';
import { cipherNames, TLS_VERSIONS, withoutTrailing } from '#base';
import type { ApiServerSettings, ServiceAccountSettings, ServingLimits } from '#cluster';
import { apiServerFlagsWithoutEffect } from './apiserver-flags-without-effect.ts';
import { AUDIT_FLAGS } from './audit-flags.ts';
import { CURVES_FLAG, curvesValue } from './curves-flag.ts';
import { EXTERNAL_SECURITY_FLAGS } from './external-security-flags.ts';
import { booleanValue, durationValue, type FlagTable, fileText, ipValue, listValue, oneOf, wholeNumberValue } from './flag-table.ts';
import { HTTP_FLAGS } from './http-flags.ts';
import { RELEASE_FLAGS } from './release-flags.ts';
import { SNI_FLAG, withSniCertificates } from './sni-flag.ts';

const STORAGE_MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf'] as const;
const MODES: readonly AuthorizationMode[] = ['Node', 'RBAC', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'];

/** kube-apiserver flags, for any way of running it. */
export const APISERVER_FLAGS: FlagTable<ApiServerSettings> = {
  ...apiServerFlagsWithoutEffect<ApiServerSettings>(),
  ...AUDIT_FLAGS,
  ...EXTERNAL_SECURITY_FLAGS,
  ...RELEASE_FLAGS,
  ...HTTP_FLAGS,
  'advertise-address': {
    value: 'address',
    help: 'under which address others reach the server',
    apply: (s, value) => (value === '' ? s : { ...s, advertiseAddress: ipValue(value) }),
  },
  'external-hostname': {
    value: 'name',
    help: 'the name by which clients outside reach the server, in discovery and in the URL of its keys',
    apply: (s, value) => ({ ...s, externalHostname: value }),
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
    help: 'how long pods tolerate a node that is not ready',
    apply: (s, value) => withTolerations(s, { notReadySeconds: wholeNumberValue(value) }),
  },
  'default-unreachable-toleration-seconds': {
    value: 'seconds',
    help: 'how long pods tolerate an unreachable node',
    apply: (s, value) => withTolerations(s, { unreachableSeconds: wholeNumberValue(value) }),
  },
  'disable-admission-plugins': {
    value: 'names',
    help: 'admission plugins that do not run',
    repeatable: true,
    apply: (s, value) => ({ ...s, admission: { ...s.admission, disabled: pluginNames(value) } }),
  },
  'admission-control-config-file': {
    value: 'file',
    help: 'an AdmissionConfiguration: what EventRateLimit, ImagePolicyWebhook, PodNodeSelector, PodSecurity and PodTolerationRestriction do',
    apply: (s, value, context) => {
      const file = { path: path.resolve(context.cwd, value), read: (name: string) => fileText(name, context) };
      return { ...s, admission: { ...s.admission, plugins: readAdmissionConfiguration(file) } };
    },
  },
  'enable-admission-plugins': {
    value: 'names',
    help: `admission plugins that run beside those that do by default; these run only here: ${OPTIONAL_PLUGINS.join(', ')}`,
    repeatable: true,
    apply: (s, value) => withEnabledPlugins(s, pluginNames(value)),
  },
  'enable-bootstrap-token-auth': {
    value: 'bool',
    help: 'whether bootstrap tokens in kube-system are accepted',
    apply: (s, value) => ({ ...s, bootstrapTokens: booleanValue(value) }),
  },
  'quota-backend-bytes': {
    value: 'bytes',
    help: 'the database size at which writes fail; 0 for 2 GiB',
    apply: (s, value) => withLimits(s, { quotaBytes: wholeNumberValue(value) }),
  },
  'enable-aggregator-routing': {
    value: 'bool',
    help: 'whether aggregated APIs are reached at an endpoint of their service, not at its cluster address',
    apply: (s, value) => withAggregation(s, { routesToEndpoints: booleanValue(value) }),
  },
  'enable-priority-and-fairness': {
    value: 'bool',
    help: 'whether flow schemas and priority levels decide which requests wait; otherwise there are limits for all together',
    apply: (s, value) => withLimits(s, { priorityAndFairness: booleanValue(value) }),
  },
  'tracing-config-file': {
    value: 'file',
    help: 'a TracingConfiguration: the OpenTelemetry collector that spans are sent to, and how many traces begin here',
    apply: (s, value, context) => ({ ...s, tracing: parseTracingConfiguration(fileText(value, context)) }),
  },
  'egress-selector-config-file': {
    value: 'file',
    help: 'an EgressSelectorConfiguration: proxies to the cluster, the control plane and etcd',
    apply: (s, value, { cwd }) => ({ ...s, egressConfig: path.resolve(cwd, value) }),
  },
  'encryption-provider-config': {
    value: 'file',
    help: 'how objects are encrypted in the store: an EncryptionConfiguration',
    apply: (s, value, { cwd }) => ({ ...s, encryption: { reload: false, ...s.encryption, path: path.resolve(cwd, value) } }),
  },
  'encryption-provider-config-automatic-reload': {
    value: 'bool',
    help: 'whether a changed EncryptionConfiguration is put to use without a restart',
    apply: (s, value) => {
      const reload = booleanValue(value);
      if (s.encryption !== undefined) return { ...s, encryption: { ...s.encryption, reload } };
      if (reload) throw new Error('give --encryption-provider-config as well');
      return s;
    },
  },
  'etcd-prefix': {
    value: 'prefix',
    help: 'what keys in etcd begin with (default /registry)',
    apply: (s, value) => ({ ...s, keyPrefix: `/${withoutTrailing(value, '/').replace(/^\/+/, '')}` }),
  },
  'event-ttl': {
    value: 'duration',
    help: 'how long events are kept',
    apply: (s, value) => withLimits(s, { eventTtlSeconds: Math.ceil(durationValue(value) / 1000) }),
  },
  'http2-max-streams-per-connection': {
    value: 'number',
    help: 'the maximum number of concurrent streams per connection',
    apply: (s, value) => withLimits(s, { maxStreamsPerConnection: wholeNumberValue(value) }),
  },
  'max-mutating-requests-inflight': {
    value: 'number',
    help: 'the maximum number of concurrent mutating requests, further ones get 429; 0 for no limit (default 200)',
    apply: (s, value) => withInFlight(s, { maxMutatingRequestsInFlight: wholeNumberValue(value) }),
  },
  'max-requests-inflight': {
    value: 'number',
    help: 'the maximum number of concurrent non-mutating requests, further ones get 429; 0 for no limit (default 400)',
    apply: (s, value) => withInFlight(s, { maxRequestsInFlight: wholeNumberValue(value) }),
  },
  'min-request-timeout': {
    value: 'seconds',
    help: 'the minimum timeout of watches that specify none',
    apply: (s, value) => withLimits(s, { minWatchTimeoutMs: wholeNumberValue(value) * 1000 }),
  },
  'proxy-client-cert-file': {
    value: 'file',
    help: 'the client certificate for aggregated API servers',
    apply: (s, value, context) => withProxyClient(s, { certificate: fileText(value, context) }),
  },
  'proxy-client-key-file': {
    value: 'file',
    help: 'the key of that certificate',
    apply: (s, value, context) => withProxyClient(s, { key: fileText(value, context) }),
  },
  'request-timeout': {
    value: 'duration',
    help: 'how long a request may take, watches aside',
    apply: (s, value) => withLimits(s, { requestTimeoutMs: durationValue(value) }),
  },
  'requestheader-allowed-names': {
    value: 'names',
    help: 'common names of front proxies; empty allows every certificate of the CA',
    repeatable: true,
    apply: (s, value) => withRequestHeader(s, { allowedNames: listValue(value) }),
  },
  'requestheader-client-ca-file': {
    value: 'file',
    help: 'the CA of front proxies, which authenticate users by headers',
    apply: (s, value, context) => {
      const authorities = fileText(value, context);
      return withRequestHeader(s, { authorities: () => authorities });
    },
  },
  'requestheader-extra-headers-prefix': {
    value: 'prefixes',
    help: 'what headers begin with that hold further facts about the user, such as X-Remote-Extra-',
    repeatable: true,
    apply: (s, value) => withRequestHeader(s, { extraHeaderPrefixes: listValue(value) }),
  },
  'requestheader-group-headers': {
    value: 'names',
    help: "headers that hold the user's groups, such as X-Remote-Group",
    repeatable: true,
    apply: (s, value) => withRequestHeader(s, { groupHeaders: listValue(value) }),
  },
  'requestheader-uid-headers': {
    value: 'names',
    help: "headers that hold the user's uid, such as X-Remote-Uid",
    repeatable: true,
    apply: (s, value) => withRequestHeader(s, { uidHeaders: listValue(value) }),
  },
  'requestheader-username-headers': {
    value: 'names',
    help: "headers that hold the user's name, such as X-Remote-User",
    repeatable: true,
    apply: (s, value) => withRequestHeader(s, { usernameHeaders: listValue(value) }),
  },
  'runtime-config': {
    value: 'key=bool',
    help: 'the enabled API versions: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource, each =true or =false',
    repeatable: true,
    apply: (s, value) => {
      const runtimeConfig = new Map([...(s.runtimeConfig ?? []), ...parseRuntimeConfig(value)]);
      enablementOf(runtimeConfig);
      return { ...s, runtimeConfig };
    },
  },
  'service-account-extend-token-expiration': {
    value: 'bool',
    help: 'whether tokens of pods live for a year where clients may not reload them',
    apply: (s, value) => withAccounts(s, { extendTokenExpiration: booleanValue(value) }),
  },
  'service-account-issuer': {
    value: 'urls',
    help: 'the issuer of service account tokens; repeat to accept tokens of other issuers',
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
    help: 'keys that verify service account tokens',
    repeatable: true,
    apply: (s, value, context) => withAccounts(s, { verificationKeys: listValue(value).map((file) => fileText(file, context)) }),
  },
  'service-account-max-token-expiration': {
    value: 'duration',
    help: 'the maximum lifetime of service account tokens',
    apply: (s, value) => withAccounts(s, { maxTokenExpirationSeconds: Math.floor(durationValue(value) / 1000) }),
  },
  'service-cluster-ip-range': {
    value: 'ranges',
    help: 'service CIDRs: one, or one per IP family',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), clusterIpRanges: listValue(value) } }),
  },
  'service-node-port-range': {
    value: 'first-last',
    help: 'the range of node ports',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), nodePortRange: portRange(value) } }),
  },
  'shutdown-delay-duration': {
    value: 'duration',
    help: 'how long the server continues to serve after /readyz starts to fail',
    apply: (s, value) => withLimits(s, { shutdownDelayMs: durationValue(value) }),
  },
  'storage-media-type': {
    value: 'type',
    help: `how objects stand in the store, which reads both: ${STORAGE_MEDIA_TYPES.join(' or ')} (default ${STORAGE_MEDIA_TYPES[0]})`,
    apply: (s, value) => ({ ...s, storageMediaType: oneOf(value, STORAGE_MEDIA_TYPES) }),
  },
  'tls-cipher-suites': {
    value: 'names',
    help: 'ciphers that clients may use, separated by commas',
    repeatable: true,
    apply: (s, value) => ({ ...s, tls: { ...s.tls, ciphers: cipherNames(listValue(value)) } }),
  },
  'tls-min-version': {
    value: 'version',
    help: `the oldest version of TLS: ${[...TLS_VERSIONS.keys()].join(', ')}`,
    apply: (s, value) => ({ ...s, tls: { ...s.tls, minVersion: TLS_VERSIONS.get(oneOf(value, [...TLS_VERSIONS.keys()]))! } }),
  },
  'tls-curve-preferences': { ...CURVES_FLAG, apply: (s, value) => ({ ...s, tls: { ...s.tls, ecdhCurve: curvesValue(value) } }) },
  'tls-sni-cert-key': {
    ...SNI_FLAG,
    apply: (s, value, context) => ({ ...s, tls: { ...s.tls, ...withSniCertificates(s.tls ?? {}, value, context) } }),
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

function withAggregation(settings: ApiServerSettings, aggregation: NonNullable<ApiServerSettings['aggregation']>): ApiServerSettings {
  return { ...settings, aggregation: { ...settings.aggregation, ...aggregation } };
}

function withProxyClient(settings: ApiServerSettings, part: { certificate?: string; key?: string }): ApiServerSettings {
  return withAggregation(settings, { proxyClient: { certificate: '', key: '', ...settings.aggregation?.proxyClient, ...part } });
}

function withRequestHeader(settings: ApiServerSettings, requestHeader: NonNullable<ApiServerSettings['requestHeader']>): ApiServerSettings {
  return { ...settings, requestHeader: { ...settings.requestHeader, ...requestHeader } };
}

function withLimits(settings: ApiServerSettings, limits: ServingLimits): ApiServerSettings {
  return { ...settings, limits: { ...settings.limits, ...limits } };
}

function withInFlight(settings: ApiServerSettings, inFlight: NonNullable<ServingLimits['inFlight']>): ApiServerSettings {
  return withLimits(settings, { inFlight: { ...settings.limits?.inFlight, ...inFlight } });
}

function withTolerations(
  settings: ApiServerSettings,
  seconds: { notReadySeconds?: number; unreachableSeconds?: number },
): ApiServerSettings {
  const tolerations = { notReadySeconds: 300, unreachableSeconds: 300, ...settings.admission?.tolerations, ...seconds };
  return { ...settings, admission: { ...settings.admission, tolerations } };
}

function withEnabledPlugins(settings: ApiServerSettings, names: readonly PluginName[]): ApiServerSettings {
  const disabled = (settings.admission?.disabled ?? []).filter((name) => names.includes(name));
  if (disabled.length > 0) throw new Error(`${disabled.join(', ')} would be both enabled and disabled`);
  const enabled = names.filter((name): name is OptionalPluginName => (OPTIONAL_PLUGINS as readonly string[]).includes(name));
  return enabled.length === 0 ? settings : { ...settings, admission: { ...settings.admission, enabled } };
}

function pluginNames(value: string): readonly PluginName[] {
  return listValue(value).map((name) => oneOf(name, PLUGIN_ORDER));
}

/** `first-last`, `first+more`, or one port. */
function portRange(value: string): { first: number; last: number } {
  const [, start = '', separator = '', end = ''] = /^(\d{1,5})(?:([+-])(\d{1,5}))?$/.exec(value.replace(/\s/g, '')) ?? [];
  const first = Number(start);
  const last = separator === '' ? first : separator === '-' ? Number(end) : first + Number(end);
  if (start === '' || first > last || last > 65535) throw new Error(`'${value}' is no range of ports`);
  return { first, last };
}
