import {
  type ApiServer,
  createSecurity,
  type EgressSelector,
  HttpsKubeletConnector,
  type HttpsKubeletOptions,
  startApiServer,
} from '#apiserver';
import type { Clock, Component, Logger, MetricsRegistry, Random } from '#base';
import type { Store } from '#store';
import { type ApiServerSettings, apiServerConfig, securityConfig, warnOfOverriddenSettings } from './config/api-server-settings.ts';
import type { ServingCertificates } from './pki/follow-certificates.ts';

/** An API server without the other components. PEM texts. */
export interface StandaloneApiServerConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly serving: { readonly certificate: string; readonly key: string };
  readonly clientAuthority: string;
  readonly serviceAccountKey: string;
  /** How to connect to kubelets. */
  readonly kubelets?: HttpsKubeletOptions;
  readonly settings: ApiServerSettings;
}

export interface StandaloneApiServerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly egress?: EgressSelector | undefined;
}

export interface StandaloneApiServer extends Component, ApiServer {
  /** Replaces the serving certificate and the client CA for new connections. */
  useCertificates(certificates: ServingCertificates): void;
}

export function startStandaloneApiServer(
  config: StandaloneApiServerConfig,
  deps: StandaloneApiServerDeps,
  signal?: AbortSignal,
): StandaloneApiServer {
  const { listen, serving, clientAuthority, serviceAccountKey, settings } = config;
  warnOfOverriddenSettings(settings, deps.logger);
  const kubelets = new HttpsKubeletConnector({ ...config.kubelets, dial: deps.egress?.cluster });
  let certificates: ServingCertificates = { ...serving, clientAuthority };
  const security = securityConfig(settings, serviceAccountKey, () => certificates.clientAuthority);
  const server = apiServerConfig(settings, { ...listen, tls: tlsOf(certificates, settings) });
  const started = startApiServer(server, { ...deps, kubelets, security: (context) => createSecurity(security, context) }, signal);
  const close = () => kubelets[Symbol.dispose]();
  void started.done.then(close, close);
  const useCertificates = (renewed: ServingCertificates) => {
    certificates = renewed;
    started.useCertificate(tlsOf(renewed, settings));
  };
  // Delegates to properties such as the port, which change after the start.
  return Object.assign(Object.create(started) as ApiServer, { useCertificates });
}

/** Front proxies have their own CA. Without any, clients are not asked for certificates. */
function tlsOf({ certificate: cert, key, clientAuthority }: ServingCertificates, { tls, requestHeader }: ApiServerSettings) {
  const authorities = [clientAuthority, requestHeader?.authorities?.() ?? ''].filter((pem) => pem !== '');
  return { ...tls, cert, key, ...(authorities.length > 0 && { ca: authorities }) };
}
