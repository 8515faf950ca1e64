import { parseDurationMs } from '#machinery';
import { RuntimeError, type SandboxConfig } from '../runtime.ts';

export const PREFIX = 'sampan.dev/';

/** The complete behaviour of a simulated container. Times in milliseconds. */
export interface ContainerScript {
  readonly pullTimeMs: number;
  readonly pullError: string | undefined;
  /** The number of failed pulls before one succeeds. */
  readonly pullFailures: number;
  readonly startTimeMs: number;
  readonly startError: string | undefined;
  readonly startFailures: number;
  /** Infinity: until it is stopped. */
  readonly runTimeMs: number | undefined;
  /** Per run; the last one repeats. */
  readonly exitCodes: readonly number[] | undefined;
  readonly exitReason: string | undefined;
  readonly terminationMessage: string | undefined;
  /** The time from SIGTERM to exit. Infinity: it ignores SIGTERM and must be killed. */
  readonly stopTimeMs: number;
  readonly stopExitCode: number;
  readonly probes: Readonly<Record<'startup' | 'readiness' | 'liveness', readonly ProbeStep[]>>;
  readonly probeOutput: string | undefined;
  readonly logs: readonly ScriptedLine[] | undefined;
  readonly logIntervalMs: number | undefined;
  readonly logLine: string;
  readonly execTimeMs: number;
  readonly execExitCode: number;
  readonly execOutput: string;
}

export interface ProbeStep {
  readonly passes: boolean;
  /** The container's age from which the step applies. */
  readonly fromMs: number;
}

export interface ScriptedLine {
  readonly afterMs: number;
  readonly line: string;
}

type Values = Readonly<Record<string, string>>;
type Lookup = (key: string) => string | undefined;

/** Suffixes of `sampan.dev/` annotations for a container; `.NAME` restricts one to the container of that name. */
export const CONTAINER_KEYS: readonly string[] = [
  'pull-time',
  'pull-error',
  'pull-failures',
  'start-time',
  'start-error',
  'start-failures',
  'run-time',
  'exit-code',
  'exit-reason',
  'termination-message',
  'stop-time',
  'stop-exit-code',
  'startup-probe',
  'readiness-probe',
  'liveness-probe',
  'probe-output',
  'logs',
  'log-interval',
  'log-line',
  'exec-time',
  'exec-exit-code',
  'exec-output',
];

export const POD_KEYS: readonly string[] = ['sandbox-time', 'sandbox-error', 'pod-ip'];

/** The values for the simulated runtime: a pod's annotations override those of matching stages. */
export function scriptedValues({ annotations }: Pick<SandboxConfig, 'annotations'>, staged: Values): Values {
  let values: Record<string, string> | undefined;
  for (const key in annotations) {
    if (!key.startsWith(PREFIX)) continue;
    values ??= { ...staged };
    values[key.slice(PREFIX.length)] = annotations[key] as string;
  }
  return values ?? staged;
}

export interface SandboxScript {
  readonly timeMs: number;
  readonly error: string | undefined;
  readonly ip: string | undefined;
}

export function sandboxScript(values: Values): SandboxScript {
  const lookup: Lookup = (key) => values[key];
  return { timeMs: duration(lookup, 'sandbox-time', 0), error: values['sandbox-error'], ip: values['pod-ip'] };
}

export function containerScript(values: Values, container: string): ContainerScript {
  const lookup: Lookup = (key) => values[`${key}.${container}`] ?? values[key];
  return {
    pullTimeMs: duration(lookup, 'pull-time', 0),
    pullError: lookup('pull-error'),
    pullFailures: count(lookup, 'pull-failures', Infinity),
    startTimeMs: duration(lookup, 'start-time', 0),
    startError: lookup('start-error'),
    startFailures: count(lookup, 'start-failures', Infinity),
    runTimeMs: lookup('run-time') === undefined ? undefined : duration(lookup, 'run-time', Infinity),
    exitCodes: exitCodes(lookup),
    exitReason: lookup('exit-reason'),
    terminationMessage: lookup('termination-message'),
    stopTimeMs: duration(lookup, 'stop-time', 0),
    stopExitCode: count(lookup, 'stop-exit-code', 0),
    probes: { startup: steps(lookup, 'startup'), readiness: steps(lookup, 'readiness'), liveness: steps(lookup, 'liveness') },
    probeOutput: lookup('probe-output'),
    logs: scriptedLines(lookup('logs')),
    logIntervalMs: lookup('log-interval') === undefined ? undefined : Math.max(1, duration(lookup, 'log-interval', 0)),
    logLine: lookup('log-line') ?? 'still running',
    execTimeMs: duration(lookup, 'exec-time', 0),
    execExitCode: count(lookup, 'exec-exit-code', 0),
    execOutput: lookup('exec-output') ?? '',
  };
}

function duration(lookup: Lookup, key: string, absent: number): number {
  const text = lookup(key);
  if (text === undefined) return absent;
  if (text === 'never' || text === 'forever') return Infinity;
  try {
    return parseDurationMs(text);
  } catch {
    throw invalid(key, text, 'a duration such as 1.5s or 2m');
  }
}

function count(lookup: Lookup, key: string, absent: number): number {
  const text = lookup(key);
  if (text === undefined) return absent;
  if (!/^\d{1,9}$/.test(text)) throw invalid(key, text, 'a whole number');
  return Number(text);
}

function exitCodes(lookup: Lookup): readonly number[] | undefined {
  const text = lookup('exit-code');
  if (text === undefined) return undefined;
  const codes = text.split(',').map((part) => part.trim());
  if (codes.some((code) => !/^\d{1,3}$/.test(code) || Number(code) > 255))
    throw invalid('exit-code', text, 'exit codes such as 1 or 1,1,0');
  return codes.map(Number);
}

const ALWAYS_PASSES: readonly ProbeStep[] = [{ passes: true, fromMs: 0 }];

/** `pass`, `fail`, or steps by the container's age: `fail,pass@10s,fail@1m`. */
function steps(lookup: Lookup, type: string): readonly ProbeStep[] {
  const key = `${type}-probe`;
  const text = lookup(key);
  if (text === undefined) return ALWAYS_PASSES;
  const parsed = text.split(',').map((part) => {
    const match = /^\s*(pass|fail)(?:@(\S+))?\s*$/.exec(part);
    if (match === null) throw invalid(key, text, 'pass, fail, or steps such as fail,pass@10s');
    return { passes: match[1] === 'pass', fromMs: duration(() => match[2], key, 0) };
  });
  return parsed.toSorted((a, b) => a.fromMs - b.fromMs);
}

/** One log line per line; `@5s text` is written five seconds after the start. */
function scriptedLines(text: string | undefined): readonly ScriptedLine[] | undefined {
  if (text === undefined) return undefined;
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line) => {
    const match = /^@(\S+) (.*)$/.exec(line);
    if (match === null) return { afterMs: 0, line };
    return { afterMs: duration(() => match[1], 'logs', 0), line: match[2] as string };
  });
}

function invalid(key: string, text: string, expected: string): RuntimeError {
  return new RuntimeError('invalidArgument', `annotation ${PREFIX}${key} is ${JSON.stringify(text)}: it must be ${expected}`);
}
