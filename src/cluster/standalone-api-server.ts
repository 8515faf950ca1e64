import { type ApiServer, createSecurity, HttpsKubeletConnector, type HttpsKubeletOptions, startApiServer } from '#apiserver';
import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { Store } from '#store';
import { type ApiServerSettings, apiServerConfig, securityConfig } from './api-server-settings.ts';

/** An API server that others of its kind, and controllers and nodes elsewhere, work with. PEM texts. */
export interface StandaloneApiServerConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly serving: { readonly certificate: string; readonly key: string };
  readonly clientAuthority: string;
  readonly serviceAccountKey: string;
  /** How kubelets are reached. */
  readonly kubelets?: HttpsKubeletOptions;
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
  const kubelets = new HttpsKubeletConnector(config.kubelets);
  const security = securityConfig(settings, serviceAccountKey);
  const server = apiServerConfig(settings, { ...listen, tls: { cert: serving.certificate, key: serving.key, ca: clientAuthority } });
  return startApiServer(server, { ...deps, kubelets, security: (context) => createSecurity(security, context) }, signal);
}
