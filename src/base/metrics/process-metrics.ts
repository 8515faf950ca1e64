import { readdirSync, readFileSync } from 'node:fs';
import { cpuUsage, memoryUsage, uptime } from 'node:process';
import type { Clock } from '../time/clock.ts';
import type { MetricsRegistry } from './metrics.ts';

const PAGE_BYTES = 4096;

/** The standard metrics of a process. Descriptors and address space are Linux only. */
export function processMetrics(metrics: MetricsRegistry, clock: Clock): void {
  const startSeconds = clock.now() / 1000 - uptime();
  const gauge = (name: string, help: string, read: () => number) => metrics.gauge({ name, help }).with({}).collect(read);
  gauge('process_cpu_seconds_total', 'Seconds of processor time that the process has used.', () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_resident_memory_bytes', 'Memory that the process holds.', () => memoryUsage().rss);
  gauge('process_start_time_seconds', 'When the process began, in seconds since 1970.', () => startSeconds);
  if (process.platform !== 'linux') return;
  gauge('process_open_fds', 'Number of open file descriptors.', () => readdirSync('/proc/self/fd').length);
  gauge('process_max_fds', 'Maximum number of open file descriptors.', maxDescriptors);
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => {
    return Number(readFileSync('/proc/self/statm', 'utf8').split(' ', 1)[0]) * PAGE_BYTES;
  });
}

function maxDescriptors(): number {
  const [, soft = 'unlimited'] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** Which version this is. */
export function buildInfoMetric(metrics: MetricsRegistry, version: Readonly<Record<string, string>>): void {
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
