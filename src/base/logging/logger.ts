import type { Clock } from '../time/clock.ts';
import { formatHuman, formatJson } from './log-format.ts';
import { LOG_LEVELS, type LogFields, type LogLevel, type LogRecord } from './log-record.ts';
import { fieldRedactor, redactText } from './redact.ts';

/** A structured logger. There is no global one: loggers are injected. */
export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Whether lines of this level are written, to avoid computing expensive fields. */
  enabled(level: Exclude<LogLevel, 'silent'>): boolean;
  /** A logger that adds these fields to every line. `component` and `logger` are ordinary fields. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  clock: Clock;
  /** Writes one line, without its line break. */
  write: (line: string) => void;
  /** Default info. */
  level?: LogLevel;
  /** Default json. */
  format?: 'json' | 'human';
  /** Colours for the human format. Default false. */
  color?: boolean;
  /** Dates in the human format, for long-lived files. Default false. */
  dates?: boolean;
  /** Additional field names to redact. */
  redact?: readonly string[];
}

export function createLogger(options: LoggerOptions): Logger {
  const least = LOG_LEVELS.indexOf(options.level ?? 'info');
  const { color = false, dates = false } = options;
  const format = options.format === 'human' ? (record: LogRecord) => formatHuman(record, { color, dates }) : formatJson;
  const redact = fieldRedactor(options.redact ?? []);
  const emit = (level: LogRecord['level'], message: string, fields: LogFields) => {
    const record = { time: options.clock.now(), level, message: redactText(message), fields: redact(fields) };
    options.write(format(record));
  };
  return loggerWith({ emit, isEnabled: (level) => LOG_LEVELS.indexOf(level) >= least }, {});
}

/** Writes nothing. */
export const silentLogger: Logger = loggerWith({ emit() {}, isEnabled: () => false }, {});

interface Sink {
  emit(level: LogRecord['level'], message: string, fields: LogFields): void;
  isEnabled(level: LogRecord['level']): boolean;
}

function loggerWith(sink: Sink, bound: LogFields): Logger {
  const at = (level: LogRecord['level']) => (message: string, fields?: LogFields) => {
    if (sink.isEnabled(level)) sink.emit(level, message, fields ? { ...bound, ...fields } : bound);
  };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    enabled: sink.isEnabled,
    child: (fields) => loggerWith(sink, { ...bound, ...fields }),
  };
}
