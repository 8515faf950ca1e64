import { isIP } from 'node:net';
import { type Clock, type Component, cipherNames, curveNames, type Logger, runComponent, stopAll, TLS_VERSIONS, waitForAbort } from '#base';
import type { Client } from '#client';
import { parseDurationMs } from '#machinery';
import type { DefaultedConfiguration } from '../configuration/defaults.ts';
import type { AccessPolicy } from './caller-gate.ts';
import type { KubeletCall, KubeletResponse } from './kubelet-call.ts';
import { type KubeletServer, type ServingKeys, startKubeletServer } from './kubelet-server.ts';
import { startPlainServer } from './plain-server.ts';

export interface NodeServersConfig {
  readonly nodeName: string;
  readonly configuration: DefaultedConfiguration;
  /** The text of `authentication.x509.clientCAFile`. */
  readonly clientCa?: string | undefined;
}

/** The source of the kubelet's serving certificate: files, or the cluster's signer. */
export interface ServingCertificate {
  /** The initial keys, then each replacement, until the signal aborts. */
  follow(signal: AbortSignal): AsyncIterable<ServingKeys>;
}

export interface NodeServersDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly certificate: ServingCertificate;
  readonly handle: (call: KubeletCall) => Promise<KubeletResponse>;
}

/** Served without authentication on `readOnlyPort`. */
const READ_ONLY = ['healthz', 'pods', 'stats', 'metrics'];

/** The servers of a standalone kubelet: its API over TLS, healthz on loopback, and the read-only port. */
export function startNodeServers(config: NodeServersConfig, deps: NodeServersDeps, signal?: AbortSignal): Component {
  const { address, healthzBindAddress, healthzPort, readOnlyPort, enableServer } = config.configuration;
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const parts: Component[] = [];
    const begin = async (part: Component) => {
      parts.push(part);
      await part.ready;
    };
    const following = new AbortController();
    let served: Promise<void> | undefined;
    try {
      if (healthzPort > 0) await begin(startPlainServer({ host: healthzBindAddress, port: healthzPort, paths: ['healthz'] }, deps));
      if (enableServer && readOnlyPort > 0) await begin(startPlainServer({ host: address, port: readOnlyPort, paths: READ_ONLY }, deps));
      if (enableServer) served = serve(config, deps, { signal: following.signal, begin });
      ready();
      await Promise.race([waitForAbort(stopping), ...parts.map(({ done }) => done), ...(served ? [served] : [])]);
    } finally {
      following.abort();
      await served?.catch(() => {});
      await stopAll(parts);
    }
  });
}

interface ServeOptions {
  readonly signal: AbortSignal;
  begin(part: Component): Promise<void>;
}

/** Serves once there is a certificate, as upstream: until a signer issues one, connections are refused. */
async function serve(config: NodeServersConfig, deps: NodeServersDeps, { signal, begin }: ServeOptions): Promise<void> {
  let server: KubeletServer | undefined;
  for await (const keys of deps.certificate.follow(signal)) {
    if (server !== undefined) {
      server.use(keys);
      deps.logger.info('serving with a new certificate');
      continue;
    }
    server = startKubeletServer(serverConfig(config, keys), deps);
    await begin(server);
    deps.logger.info('the kubelet is serving', { port: server.port });
  }
}

function serverConfig({ nodeName, configuration, clientCa }: NodeServersConfig, keys: ServingKeys) {
  const { address, port, tlsCipherSuites = [], tlsCurvePreferences = [], tlsMinVersion = '' } = configuration;
  const ciphers = tlsCipherSuites.length > 0 ? cipherNames(tlsCipherSuites) : undefined;
  const curves = tlsCurvePreferences.length > 0 ? curveNames(tlsCurvePreferences) : undefined;
  return {
    ...{ nodeName, host: isIP(address) === 0 ? '0.0.0.0' : address, port },
    tls: { ...keys, clientCa, ciphers, curves, minVersion: TLS_VERSIONS.get(tlsMinVersion) },
    access: accessPolicy(configuration),
  };
}

export function accessPolicy({ authentication, authorization }: DefaultedConfiguration): AccessPolicy {
  const { anonymous, webhook } = authentication;
  return {
    ...{ anonymous: anonymous.enabled, tokens: webhook.enabled, authorizes: authorization.mode === 'Webhook' },
    tokenMs: parseDurationMs(webhook.cacheTTL),
    allowedMs: parseDurationMs(authorization.webhook.cacheAuthorizedTTL),
    deniedMs: parseDurationMs(authorization.webhook.cacheUnauthorizedTTL),
  };
}
