import {
  type ApiServerConfig,
  type AuthorizationMode,
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
  readonly services?: ServicesConfig;
}

export const SERVICE_ACCOUNT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** The server's configuration. Without `listen` it is reached in-process only. */
export function apiServerConfig(settings: ApiServerSettings, listen: ApiServerConfig['listen']): ApiServerConfig {
  const { advertiseAddress, anonymousAuth = true, services } = settings;
  return {
    version: versionInfo(),
    anonymousAuth,
    ...(advertiseAddress && { advertiseAddress }),
    ...(services && { services }),
    ...(listen && { listen }),
  };
}

/** Who may do what. `signing` is the key of service account tokens, in PEM. */
export function securityConfig(settings: ApiServerSettings, signing: string): SecurityConfig {
  const { serviceAccountIssuer: issuer = SERVICE_ACCOUNT_ISSUER, staticTokens, authorizationModes = ['Node', 'RBAC'] } = settings;
  return {
    serviceAccounts: { issuer, keys: { signing } },
    ...(staticTokens && { staticTokens }),
    bootstrapTokens: true,
    authorizationModes,
    nodeRules: NODE_RULES,
  };
}
