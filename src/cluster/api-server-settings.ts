import type { SecureContextOptions } from 'node:tls';
import {
  type ApiServerConfig,
  type AuthorizationMode,
  type KeyMaterial,
  NODE_RULES,
  type SecurityConfig,
  type ServicesConfig,
  type UserInfo,
} from '#apiserver';
import { versionInfo } from './version.ts';

/** What can be set about an API server, whether it runs with its cluster or alone. */
export interface ApiServerSettings {
  readonly advertiseAddress?: string;
  readonly anonymousAuth?: boolean;
  readonly authorizationModes?: readonly AuthorizationMode[];
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  readonly serviceAccountIssuer?: string;
  readonly serviceAccounts?: ServiceAccountSettings;
  /** Default: yes. */
  readonly bootstrapTokens?: boolean;
  readonly services?: ServicesConfig;
  readonly admission?: NonNullable<ApiServerConfig['admission']>;
  readonly limits?: ServingLimits;
  readonly tls?: TlsSettings;
}

/** Beside the issuer and the key that signs. */
export type ServiceAccountSettings = Partial<Omit<SecurityConfig['serviceAccounts'], 'issuer' | 'keys'>> & {
  /** PEMs of further keys that tokens may be signed with. */
  readonly verificationKeys?: readonly string[];
};

export type ServingLimits = Pick<
  ApiServerConfig,
  'requestTimeoutMs' | 'shutdownDelayMs' | 'maxStreamsPerConnection' | 'eventTtlSeconds' | 'minWatchTimeoutMs'
>;

export type TlsSettings = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>;

export const SERVICE_ACCOUNT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** The server's configuration. Without `listen` it is reached in-process only. */
export function apiServerConfig(settings: ApiServerSettings, listen: ApiServerConfig['listen']): ApiServerConfig {
  const { advertiseAddress, anonymousAuth = true, services, admission, limits, tls } = settings;
  return {
    version: versionInfo(),
    anonymousAuth,
    ...(advertiseAddress && { advertiseAddress }),
    ...(services && { services }),
    ...(admission && { admission }),
    ...limits,
    ...(listen && { listen: { ...listen, tls: { ...listen.tls, ...tls } } }),
  };
}

/** Who may do what. `signing` is the key of service account tokens, in PEM. */
export function securityConfig(settings: ApiServerSettings, signing: NonNullable<KeyMaterial['signing']>): SecurityConfig {
  const { serviceAccountIssuer: issuer = SERVICE_ACCOUNT_ISSUER, staticTokens, authorizationModes = ['Node', 'RBAC'] } = settings;
  const { verificationKeys: verification, ...accounts } = settings.serviceAccounts ?? {};
  return {
    serviceAccounts: { ...accounts, issuer, keys: { signing, ...(verification && { verification }) } },
    ...(staticTokens && { staticTokens }),
    bootstrapTokens: settings.bootstrapTokens ?? true,
    authorizationModes,
    nodeRules: NODE_RULES,
  };
}
