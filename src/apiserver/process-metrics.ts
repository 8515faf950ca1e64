import { cpuUsage, memoryUsage, uptime } from 'node:process';
import type { Clock, MetricsRegistry } from '#base';

/** What every Prometheus client tells of its process, and which version this is. */
export function processMetrics(metrics: MetricsRegistry, clock: Clock, version: Readonly<Record<string, string>>): void {
  const begun = clock.now() / 1000 - uptime();
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help }).with({}).collect(read);
  gauge('process_cpu_seconds_total', 'Seconds of processor time that the process has used.', () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_resident_memory_bytes', 'Memory that the process holds.', () => memoryUsage().rss);
  gauge('process_start_time_seconds', 'When the process began, in seconds since 1970.', () => begun);
  metrics
    .gauge({
      name: 'kubernetes_build_info',
      help: 'Which version this is; always 1.',
      labels: ['major', 'minor', 'git_version', 'platform'],
    })
    .with({
      major: version.major ?? '',
      minor: version.minor ?? '',
      git_version: version.gitVersion ?? '',
      platform: version.platform ?? '',
    })
    .set(1);
}
