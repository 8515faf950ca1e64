import type { core } from '#api';
import type { PodRejection } from '../status/pod-status.ts';
import { dottedSysctl } from './config/sandbox-config.ts';

/** Namespaced sysctls that cannot affect other pods. */
const SAFE: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);

const IPC = ['kernel.sem', 'kernel.shm', 'kernel.msg', 'fs.mqueue.'];

/** Why a pod's sysctls are forbidden; undefined when they are allowed. */
export function sysctlProblem({ spec }: core.Pod, allowedUnsafe: readonly string[]): PodRejection | undefined {
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const problem = problemOf(dottedSysctl(name), spec, allowedUnsafe);
    if (problem !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(name)} ${problem}` };
  }
  return undefined;
}

function problemOf(name: string, spec: core.PodSpec | undefined, allowedUnsafe: readonly string[]): string | undefined {
  if (!SAFE.has(name) && !allowedUnsafe.some((pattern) => matches(name, pattern))) return 'not allowlisted';
  if (spec?.hostNetwork === true && name.startsWith('net.')) return 'not allowed with host net enabled';
  if (spec?.hostIPC === true && IPC.some((prefix) => name.startsWith(prefix))) return 'not allowed with host ipc enabled';
  return undefined;
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
