import { HttpEndpoint, type HttpRoutes, type Logger, METRICS_CONTENT_TYPE, type MetricsRegistry } from '#base';

/** Addresses of the health and metrics endpoints, as `host:port`. Absent: disabled. */
export interface HealthAddresses {
  /** `/health`: the process is alive. Upstream: port 8080. */
  readonly healthBindAddress?: string;
  /** `/ready`: the initial sync is complete. CoreDNS: port 8181. */
  readonly readyBindAddress?: string;
  /** `/metrics`. Upstream: port 9153. */
  readonly metricsBindAddress?: string;
}

export interface HealthEndpoint {
  readonly name: 'health' | 'ready' | 'metrics';
  readonly bindAddress: string;
  readonly server: HttpEndpoint;
}

export interface HealthSource {
  readonly metrics: MetricsRegistry;
  readonly isSynced: () => boolean;
  readonly logger: Logger;
}

export function healthEndpoints(addresses: HealthAddresses, { metrics, isSynced, logger }: HealthSource): readonly HealthEndpoint[] {
  const ok = { code: 200, body: 'OK' };
  // The plugins that are not ready, as CoreDNS.
  const ready = () => (isSynced() ? ok : { code: 503, body: 'kubernetes' });
  const scrape = () => ({ code: 200, body: metrics.text(), headers: { 'content-type': METRICS_CONTENT_TYPE } });
  const served: readonly [HealthEndpoint['name'], string | undefined, HttpRoutes][] = [
    ['health', addresses.healthBindAddress, (path) => (path === '/health' ? ok : undefined)],
    ['ready', addresses.readyBindAddress, (path) => (path === '/ready' ? ready() : undefined)],
    ['metrics', addresses.metricsBindAddress, (path) => (path === '/metrics' ? scrape() : undefined)],
  ];
  return served.flatMap(([name, bindAddress, routes]) =>
    bindAddress ? [{ name, bindAddress, server: new HttpEndpoint(routes, logger) }] : [],
  );
}
