import type { Clock, MetricsRegistry } from '#base';
import { validityOf } from './certificate-files.ts';

const LIFETIMES = [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000];

/** Metrics of a rotated certificate. */
export interface CertificateMetrics {
  /** This one is used from now on. */
  use(cert: string): void;
  /** None was issued. */
  fail(): void;
}

export interface CertificateMetricsDeps {
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
}

/** How long the kubelet's client certificate is still good, and how often it could not be renewed. */
export function clientCertificateMetrics({ metrics, clock }: CertificateMetricsDeps): CertificateMetrics {
  const errors = metrics
    .counter({
      name: 'kubelet_certificate_manager_client_expiration_renew_errors',
      help: 'Counter of certificate renewal errors.',
    })
    .with({});
  errors.inc(0);
  const use = timeToLive('client', metrics, clock);
  return { use, fail: () => errors.inc() };
}

/** The remaining lifetime of the kubelet's serving certificate, and the age at which earlier ones were replaced. */
export function servingCertificateMetrics({ metrics, clock }: CertificateMetricsDeps): CertificateMetrics {
  const rotations = metrics
    .histogram({
      name: 'kubelet_certificate_manager_server_rotation_seconds',
      help: 'Histogram of the number of seconds the previous certificate lived before being rotated.',
      buckets: LIFETIMES,
    })
    .with({});
  const renewErrors = metrics
    .counter({ name: 'kubelet_server_expiration_renew_errors', help: 'Counter of certificate renewal errors.' })
    .with({});
  renewErrors.inc(0);
  const show = timeToLive('server', metrics, clock);
  let previous: string | undefined;
  return {
    use: (cert) => {
      if (previous !== undefined && previous !== cert) rotations.observe((clock.now() - validityOf(previous).fromMs) / 1000);
      previous = cert;
      show(cert);
    },
    fail: () => renewErrors.inc(),
  };
}

function timeToLive(kind: 'client' | 'server', metrics: MetricsRegistry, clock: Clock): (cert: string) => void {
  let toMs = Infinity;
  metrics
    .gauge({
      name: `kubelet_certificate_manager_${kind}_ttl_seconds`,
      help: `Gauge of the TTL (time-to-live) of the Kubelet's ${kind === 'server' ? 'serving' : 'client'} certificate. The value is in seconds until certificate expiry (negative if already expired). If ${kind === 'server' ? 'serving' : 'client'} certificate is invalid or unused, the value will be +INF.`,
    })
    .with({})
    .collect(() => (toMs === Infinity ? Infinity : Math.round((toMs - clock.now()) / 1000)));
  return (cert) => {
    toMs = validityOf(cert).toMs;
  };
}
