import type { SecureContextOptions } from 'node:tls';
import {
  type ApiServerConfig,
  type AuthorizationMode,
  type EncryptionConfig,
  type KeyMaterial,
  NODE_RULES,
  type RequestHeaderConfig,
  type SecurityConfig,
  type ServicesConfig,
  type TracingConfiguration,
  type UserInfo,
} from '#apiserver';
import type { Logger, SniSource } from '#base';
import { versionInfo } from '../version.ts';
import { type AuditSettings, auditConfig, auditWarning } from './audit-settings.ts';
import { type ExternalSecuritySettings, externalSecurity } from './external-security-settings.ts';

/** Settings of an API server, in a cluster or standalone. */
export interface ApiServerSettings extends ExternalSecuritySettings {
  readonly advertiseAddress?: string;
  readonly externalHostname?: string;
  /** The machine's address, for a server that listens on loopback or on all addresses. */
  readonly hostAddress?: string;
  /** The identity among several API servers. Absent: no identity lease. */
  readonly hostname?: string;
  readonly anonymousAuth?: boolean;
  readonly authorizationModes?: readonly AuthorizationMode[];
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  readonly serviceAccountIssuer?: string;
  readonly serviceAccounts?: ServiceAccountSettings;
  /** Default: true. */
  readonly bootstrapTokens?: boolean;
  readonly services?: ServicesConfig;
  readonly admission?: NonNullable<ApiServerConfig['admission']>;
  readonly limits?: ServingLimits;
  readonly tls?: TlsSettings;
  readonly audit?: AuditSettings;
  readonly encryption?: EncryptionConfig;
  readonly tracing?: TracingConfiguration;
  /** The file of an EgressSelectorConfiguration. */
  readonly egressConfig?: string;
  readonly runtimeConfig?: NonNullable<ApiServerConfig['runtimeConfig']>;
  readonly storageMediaType?: NonNullable<ApiServerConfig['storageMediaType']>;
  /** The prefix of all keys in the store. */
  readonly keyPrefix?: string;
  readonly featureGates?: NonNullable<ApiServerConfig['featureGates']>;
  readonly emulation?: NonNullable<ApiServerConfig['emulation']>;
  /** Front proxies that may authenticate users. */
  readonly requestHeader?: Partial<RequestHeaderConfig>;
  readonly aggregation?: NonNullable<ApiServerConfig['aggregation']>;
}

/** Service account settings besides the issuer and the signing key. */
export type ServiceAccountSettings = Partial<Omit<SecurityConfig['serviceAccounts'], 'issuer' | 'keys'>> & {
  /** PEMs of additional verification keys. */
  readonly verificationKeys?: readonly string[];
};

export type ServingLimits = Pick<
  ApiServerConfig,
  | 'requestTimeoutMs'
  | 'shutdownDelayMs'
  | 'maxStreamsPerConnection'
  | 'eventTtlSeconds'
  | 'quotaBytes'
  | 'minWatchTimeoutMs'
  | 'inFlight'
  | 'priorityAndFairness'
  | 'maxBodyBytesInFlight'
  | 'http'
>;

export type TlsSettings = Pick<SecureContextOptions, 'minVersion' | 'ciphers' | 'ecdhCurve'> & SniSource;

export const SERVICE_ACCOUNT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** The server's configuration. Without `listen` it is reached in-process only. */
export function apiServerConfig(settings: ApiServerSettings, listen: ApiServerConfig['listen']): ApiServerConfig {
  const { advertiseAddress, hostAddress, hostname, services, admission, limits, tls, aggregation } = settings;
  const audit = auditConfig(settings.audit ?? {});
  const requestHeader = requestHeaderConfig(settings);
  return {
    version: versionInfo(settings.emulation),
    anonymousAuth: allowsAnonymous(settings),
    ...(advertiseAddress && { advertiseAddress }),
    ...(settings.externalHostname && { externalHostname: settings.externalHostname }),
    ...(hostAddress && { hostAddress }),
    ...(hostname && { hostname }),
    ...(services && { services }),
    ...(admission && { admission }),
    ...limits,
    ...(audit && { audit }),
    ...(settings.encryption && { encryption: settings.encryption }),
    ...(settings.tracing && { tracing: settings.tracing }),
    ...(settings.runtimeConfig && { runtimeConfig: settings.runtimeConfig }),
    ...(settings.storageMediaType && { storageMediaType: settings.storageMediaType }),
    ...(settings.keyPrefix && { keyPrefix: settings.keyPrefix }),
    ...(settings.featureGates && { featureGates: settings.featureGates }),
    ...(settings.emulation && { emulation: settings.emulation }),
    ...(aggregation && { aggregation }),
    ...(requestHeader && { requestHeader }),
    ...(listen && { listen: { ...listen, tls: { ...listen.tls, ...tls } } }),
  };
}

const NO_FRONT_PROXY = { allowedNames: [], usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] };

/** As upstream, request headers are trusted only with a front-proxy CA. */
function requestHeaderConfig({ requestHeader }: ApiServerSettings): RequestHeaderConfig | undefined {
  const { authorities } = requestHeader ?? {};
  return authorities && { ...NO_FRONT_PROXY, ...requestHeader, authorities };
}

/** As upstream, anonymous requests are off with AlwaysAllow. */
function allowsAnonymous({ anonymousAuth = true, authorizationModes = [] }: ApiServerSettings): boolean {
  return anonymousAuth && !authorizationModes.includes('AlwaysAllow');
}

/** Logs settings that have no effect beside others. */
export function warnOfOverriddenSettings(settings: ApiServerSettings, logger: Logger): void {
  const warning = auditWarning(settings.audit ?? {});
  if (warning !== undefined) logger.warn(warning);
  if (settings.anonymousAuth === true && !allowsAnonymous(settings))
    logger.warn('anonymous requests are off: they are not allowed with the AlwaysAllow authorizer; use another --authorization-mode');
}

/** Authentication and authorization. `signing` is the PEM key of service account tokens. */
export function securityConfig(
  settings: ApiServerSettings,
  signing: NonNullable<KeyMaterial['signing']>,
  clientAuthorities?: () => string,
): SecurityConfig {
  const requestHeader = requestHeaderConfig(settings);
  const { serviceAccountIssuer: issuer = SERVICE_ACCOUNT_ISSUER, staticTokens, authorizationModes = ['Node', 'RBAC'] } = settings;
  const { verificationKeys: verification, ...accounts } = settings.serviceAccounts ?? {};
  return {
    serviceAccounts: { ...accounts, issuer, keys: { signing, ...(verification && { verification }) } },
    ...(staticTokens && { staticTokens }),
    bootstrapTokens: settings.bootstrapTokens ?? true,
    ...(requestHeader && clientAuthorities && { frontProxy: { requestHeader, clientAuthorities } }),
    authorizationModes,
    nodeRules: NODE_RULES,
    external: externalSecurity(settings, settings.authorizationModes !== undefined),
  };
}
