import type { Command } from 'commander';
import { type LoggerOptions, lookupTable } from '#base';
import { type FlagTable, flagsWithoutEffect, flagValue, oneOf, wholeNumberValue } from './flag-table.ts';
import { releaseFlagsWithoutEffect } from './release-flags.ts';

/** As given. */
export interface LoggingFlags {
  readonly v?: string;
  readonly loggingFormat?: string;
}

const FORMATS = lookupTable<LoggerOptions['format']>({ text: 'human', json: 'json' });
/** The verbosity from which debug messages are logged. */
const DEBUG_VERBOSITY = 4;
const TRACE_VERBOSITY = 6;

export function addLoggingFlags(command: Command): Command {
  return command
    .option('--v <level>', 'how much to log: 4 for debugging, 6 for everything (default: 0)')
    .option('--logging-format <format>', 'text or json (default: json)');
}

export function loggerOptionsOf({ v, loggingFormat }: LoggingFlags, verbose: boolean): Required<Pick<LoggerOptions, 'level' | 'format'>> {
  const verbosity = v === undefined ? 0 : flagValue('v', v, wholeNumberValue);
  const format = loggingFormat === undefined ? 'json' : flagValue('logging-format', loggingFormat, (text) => oneOf(text, ['text', 'json']));
  const level = verbosity >= TRACE_VERBOSITY ? 'trace' : verbose || verbosity >= DEBUG_VERBOSITY ? 'debug' : 'info';
  return { level, format: FORMATS[format]! };
}

/** Flags of all upstream components. */
export function commonFlagsWithoutEffect<S>(): FlagTable<S> {
  return {
    ...flagsWithoutEffect<S>('there is one stream of logs, on standard error', {
      vmodule: 'text',
      'log-flush-frequency': 'duration',
      'log-text-split-stream': 'bool',
      'log-text-info-buffer-size': 'text',
      'log-json-split-stream': 'bool',
      'log-json-info-buffer-size': 'text',
    }),
    ...flagsWithoutEffect<S>('all metrics are served as they are', {
      'show-hidden-metrics-for-version': 'text',
      'disabled-metrics': 'list',
      'allow-metric-labels': 'text',
      'allow-metric-labels-manifest': 'file',
    }),
    ...releaseFlagsWithoutEffect<S>(),
    ...flagsWithoutEffect<S>('no profiles are served; use node --cpu-prof', { profiling: 'bool', 'contention-profiling': 'bool' }),
  };
}

/** TLS flags of upstream components that Node.js or this server does not support. */
export function servingFlagsWithoutEffect<S>(): FlagTable<S> {
  return {
    ...flagsWithoutEffect<S>('a port is listened on by one process', { 'permit-port-sharing': 'bool', 'permit-address-sharing': 'bool' }),
    ...flagsWithoutEffect<S>('HTTP/2 is negotiated by the client', { 'disable-http2-serving': 'bool' }),
  };
}
