import { readFileSync } from 'node:fs';
import { type Clock, type Dialer, httpConnectDialer, type MetricsRegistry, type Random, realClock } from '#base';
import { type EgressConnection, type EgressName, type EgressTls, parseEgressConfiguration } from './egress-configuration.ts';
import { networkProxyDialer } from './network-proxy-dialer.ts';

/** How to reach each of the networks. Absent: directly. */
export type EgressSelector = Readonly<Partial<Record<EgressName, EgressDialer>>>;

/** A dialer, with the proxy that it connects through. */
export type EgressDialer = Dialer & Partial<ProxyLabels>;

interface ProxyLabels {
  readonly protocol: string;
  readonly transport: string;
}

export interface EgressDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
}

/** Reads an EgressSelectorConfiguration and what it names. Throws with upstream's messages. */
export function readEgressSelector(file: string, deps: EgressDeps): EgressSelector {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`unable to read egress selector configuration from ${JSON.stringify(file)} [${message}]`, { cause: error });
  }
  const selector: Partial<Record<EgressName, EgressDialer>> = {};
  const observed = dialMetrics(deps.metrics);
  for (const [name, connection] of parseEgressConfiguration(text)) {
    const dial = dialerOf(connection, deps);
    if (dial === undefined) continue;
    const labels = labelsOf(connection);
    selector[name] = Object.assign(observed(dial, labels), labels);
  }
  return selector;
}

function dialerOf(connection: EgressConnection, deps: EgressDeps): Dialer | undefined {
  if (connection.protocol === 'Direct') return undefined;
  // Proxies are outside of the cluster's (possibly virtual) time.
  if (connection.protocol === 'GRPC') return networkProxyDialer(connection.socketPath, { ...deps, clock: realClock });
  if ('socketPath' in connection) return httpConnectDialer({ url: `unix://${connection.socketPath}` });
  const { url, tls } = connection;
  return httpConnectDialer({ url, ...(tls && { tls: keysOf(tls) }) });
}

function keysOf({ caBundle, clientCert, clientKey, tlsServerName }: EgressTls) {
  return {
    ...{ cert: readFileSync(clientCert, 'utf8'), key: readFileSync(clientKey, 'utf8') },
    ...(caBundle !== '' && { ca: readFileSync(caBundle, 'utf8') }),
    ...(tlsServerName !== '' && { serverName: tlsServerName }),
  };
}

function labelsOf(connection: EgressConnection): ProxyLabels {
  const protocol = connection.protocol === 'GRPC' ? 'grpc' : 'http_connect';
  return { protocol, transport: 'socketPath' in connection ? 'uds' : 'tcp' };
}

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/** Counts dials, under upstream's names. */
function dialMetrics(metrics: MetricsRegistry): (dial: Dialer, labels: ProxyLabels) => Dialer {
  const labels = ['protocol', 'transport'] as const;
  const prefix = 'apiserver_egress_dialer_dial';
  const starts = metrics.counter({ name: `${prefix}_start_total`, help: 'Dials by way of a proxy that began.', labels });
  const failures = metrics.counter({
    name: `${prefix}_failure_count`,
    help: 'Dials by way of a proxy that failed.',
    labels: [...labels, 'stage'],
  });
  const durations = metrics.histogram({ name: `${prefix}_duration_seconds`, help: 'How long dials took.', labels, buckets: BUCKETS });
  return (dial, { protocol, transport }) => {
    const values = { protocol, transport };
    return async (target) => {
      const begin = realClock.monotonic();
      starts.with(values).inc();
      try {
        const dialed = await dial(target);
        durations.with(values).observe((realClock.monotonic() - begin) / 1000);
        return dialed;
      } catch (error) {
        const isProxyError = (error as Error).cause === undefined;
        failures.with({ ...values, stage: isProxyError ? 'proxy' : 'connect' }).inc();
        throw error;
      }
    };
  };
}
