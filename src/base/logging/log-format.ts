import type { LogRecord } from './log-record.ts';

const ESC = '\u001b[';
const COLORS: Readonly<Record<LogRecord['level'], string>> = { trace: '90', debug: '36', info: '32', warn: '33', error: '31' };

/** One JSON object a line; time, level and message come first and cannot be overwritten by a field. */
export function formatJson({ time, level, message, fields }: LogRecord): string {
  const { time: _time, level: _level, message: _message, ...rest } = fields;
  return JSON.stringify({ time: new Date(time).toISOString(), level, message, ...rest });
}

export interface HumanFormat {
  readonly color: boolean;
  /** Whether the date is part of the time. */
  readonly dates: boolean;
}

/** `12:00:00.000 INFO  component: message key=value`, and the stack of an error below. */
export function formatHuman(record: LogRecord, { color, dates }: HumanFormat): string {
  const { component, ...fields } = record.fields;
  const iso = new Date(record.time).toISOString();
  const time = dates ? iso : iso.slice(11, 23);
  const level = record.level.toUpperCase().padEnd(5);
  const source = component === undefined ? '' : `${component}: `;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${paint(`${name}=`, '90', color)}${formatValue(value)}`);
  const stacks = Object.values(fields).map(stackOf).join('');
  return `${paint(time, '90', color)} ${paint(level, COLORS[record.level], color)} ${source}${record.message}${pairs.join('')}${stacks}`;
}

function paint(text: string, code: string, color: boolean): string {
  return color ? `${ESC}${code}m${text}${ESC}0m` : text;
}

function formatValue(value: unknown): string {
  // Control characters could steer the terminal.
  if (typeof value === 'string') return /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value);
  if (isErrorRecord(value)) return JSON.stringify(errorChain(value));
  return JSON.stringify(value);
}

interface ErrorRecord {
  message: string;
  stack: string;
  cause?: unknown;
}

function isErrorRecord(value: unknown): value is ErrorRecord {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
}

function errorChain(error: ErrorRecord): string {
  const cause = isErrorRecord(error.cause) ? `: ${errorChain(error.cause)}` : '';
  return error.message + cause;
}

function stackOf(value: unknown): string {
  return isErrorRecord(value) ? `\n${value.stack.replace(/[^\P{Cc}\n\t]/gu, '\ufffd')}` : '';
}
