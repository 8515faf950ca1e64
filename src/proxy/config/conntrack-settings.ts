import { availableParallelism } from 'node:os';
import type { KernelNetwork, Logger } from '#base';
import type { ConfigurationReader } from '#machinery';

/** Conntrack settings; 0 leaves a setting unchanged. */
export interface ConntrackSettings {
  readonly maxPerCore: number;
  readonly min: number;
  readonly tcpEstablishedMs: number;
  readonly tcpCloseWaitMs: number;
  readonly tcpBeLiberal: boolean;
  readonly udpMs: number;
  readonly udpStreamMs: number;
}

const FIELDS = ['maxPerCore', 'min', 'tcpEstablishedTimeout', 'tcpCloseWaitTimeout', 'tcpBeLiberal', 'udpTimeout', 'udpStreamTimeout'];
const HOUR_MS = 3_600_000;

/** With upstream's defaults. */
export function readConntrack(reader: ConfigurationReader, value: unknown): ConntrackSettings {
  const fields = reader.object(value, 'conntrack');
  reader.rejectUnknownFields(fields, FIELDS, 'conntrack');
  const count = (name: string, fallback: number) => reader.number(fields[name], `conntrack.${name}`, { fallback, min: 0 });
  const duration = (name: string, fallbackMs: number) => readPeriod(reader, fields[name], `conntrack.${name}`, fallbackMs);
  return {
    maxPerCore: count('maxPerCore', 32_768),
    min: count('min', 131_072),
    tcpEstablishedMs: duration('tcpEstablishedTimeout', 24 * HOUR_MS),
    tcpCloseWaitMs: duration('tcpCloseWaitTimeout', HOUR_MS),
    tcpBeLiberal: reader.boolean(fields.tcpBeLiberal, 'conntrack.tcpBeLiberal', false),
    udpMs: duration('udpTimeout', 0),
    udpStreamMs: duration('udpStreamTimeout', 0),
  };
}

/** Milliseconds, at least 0. null counts as absent. */
export function readPeriod(reader: ConfigurationReader, value: unknown, path: string, fallbackMs = 0): number {
  const ms = reader.duration(value ?? undefined, path, fallbackMs);
  if (ms < 0) reader.fail(path, 'must not be negative');
  return ms;
}

/** Applies the settings. Failures, such as in a container, are logged: services work without. */
export async function applyConntrack(settings: ConntrackSettings, kernel: KernelNetwork, logger: Logger): Promise<void> {
  const max = settings.maxPerCore === 0 ? 0 : Math.max(settings.min, settings.maxPerCore * availableParallelism());
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const sysctls: readonly [string, number][] = [
    ['nf_conntrack_tcp_timeout_established', seconds(settings.tcpEstablishedMs)],
    ['nf_conntrack_tcp_timeout_close_wait', seconds(settings.tcpCloseWaitMs)],
    ['nf_conntrack_tcp_be_liberal', settings.tcpBeLiberal ? 1 : 0],
    ['nf_conntrack_udp_timeout', seconds(settings.udpMs)],
    ['nf_conntrack_udp_timeout_stream', seconds(settings.udpStreamMs)],
  ];
  await raise(max, kernel, logger);
  for (const [name, value] of sysctls.filter(([, value]) => value > 0)) await set(kernel, logger, { name, value });
}

/** nf_conntrack_max is only ever raised. */
async function raise(max: number, kernel: KernelNetwork, logger: Logger): Promise<void> {
  const name = 'nf_conntrack_max';
  const now = max === 0 ? '0' : await kernel.readSysctl(`net.netfilter.${name}`).catch(() => '0');
  if (max > Number(now)) await set(kernel, logger, { name, value: max });
}

async function set(kernel: KernelNetwork, logger: Logger, { name, value }: { name: string; value: number }): Promise<void> {
  try {
    await kernel.sysctl({ [`net.netfilter.${name}`]: String(value) });
  } catch (error) {
    logger.warn('a conntrack setting could not be applied', { setting: name, value, error });
  }
}
