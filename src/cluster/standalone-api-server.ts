import { type ApiServer, createSecurity, NODE_RULES, startApiServer } from '#apiserver';
import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { Store } from '#store';
import { type ApiServerSettings, SERVICE_ACCOUNT_ISSUER } from './start-cluster.ts';
import { versionInfo } from './version.ts';

/** An API server that others of its kind, and controllers and nodes elsewhere, work with. PEM texts. */
export interface StandaloneApiServerConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly serving: { readonly certificate: string; readonly key: string };
  readonly clientAuthority: string;
  readonly serviceAccountKey: string;
  readonly settings: ApiServerSettings;
}

export interface StandaloneApiServerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export function startStandaloneApiServer(
  config: StandaloneApiServerConfig,
  deps: StandaloneApiServerDeps,
  signal?: AbortSignal,
): ApiServer {
  const { listen, serving, clientAuthority, serviceAccountKey, settings } = config;
  const { advertiseAddress, anonymousAuth = true, services, staticTokens, serviceAccountIssuer = SERVICE_ACCOUNT_ISSUER } = settings;
  const security = {
    serviceAccounts: { issuer: serviceAccountIssuer, keys: { signing: serviceAccountKey } },
    ...(staticTokens && { staticTokens }),
    bootstrapTokens: true,
    authorizationModes: settings.authorizationModes ?? (['Node', 'RBAC'] as const),
    nodeRules: NODE_RULES,
  };
  const server = {
    version: versionInfo(),
    anonymousAuth,
    ...(advertiseAddress && { advertiseAddress }),
    ...(services && { services }),
    listen: { ...listen, tls: { cert: serving.certificate, key: serving.key, ca: clientAuthority } },
  };
  return startApiServer(server, { ...deps, security: (context) => createSecurity(security, context) }, signal);
}
