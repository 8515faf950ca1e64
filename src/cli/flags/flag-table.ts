import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { parseDurationMs } from '#machinery';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';

/** A flag of a component, under upstream's name. */
export interface Flag<Settings> {
  readonly help: string;
  /** How its value is written, in the help. */
  readonly value: string;
  /** May be given several times; its values are then separated by commas. */
  readonly repeatable?: boolean;
  /** Returns the settings with the flag's value in them. Throws an Error that says what is wrong with the value. */
  readonly apply: (settings: Settings, value: string, context: CliContext) => Settings;
}

export type FlagTable<Settings> = Readonly<Record<string, Flag<Settings>>>;

/** Adds every flag of the table to a command of its own. */
export function addFlags<S>(command: Command, table: FlagTable<S>): Command {
  for (const [name, { value, help, repeatable }] of Object.entries(table)) {
    if (repeatable) command.option(`--${name} <${value}>`, help, joined);
    else command.option(`--${name} <${value}>`, help);
  }
  return command;
}

function joined(value: string, previous?: string): string {
  return previous === undefined ? value : `${previous},${value}`;
}

/** Settings from the options of a command that `addFlags` made. */
export function settingsFromOptions<S>(
  table: FlagTable<S>,
  options: Readonly<Record<string, unknown>>,
  reading: { initial: S; context: CliContext },
): S {
  let settings = reading.initial;
  for (const name of Object.keys(table)) {
    const value = options[camelCase(name)];
    if (typeof value === 'string') settings = applyFlag(table, { name, value }, { settings, context: reading.context });
  }
  return settings;
}

/** Settings from arguments of the form `name=value` or `--name=value`. `of` says whose flags they are. */
export function settingsFromArguments<S>(
  table: FlagTable<S>,
  args: readonly string[],
  reading: { initial: S; context: CliContext; of: string },
): S {
  let settings = reading.initial;
  for (const argument of args) {
    const [, name = '', given] = /^(?:--)?([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (!Object.hasOwn(table, name)) throw new UsageError(`${reading.of} has no flag '${name}'`, hintFor(name, Object.keys(table)));
    const { value: form, help } = table[name]!;
    if (given === undefined && form !== 'bool') throw new UsageError(`--${name} needs a value, as ${name}=${form.toUpperCase()}`, help);
    const value = given ?? 'true';
    settings = applyFlag(table, { name, value }, { settings, context: reading.context });
  }
  return settings;
}

function applyFlag<S>(
  table: FlagTable<S>,
  { name, value }: { name: string; value: string },
  { settings, context }: { settings: S; context: CliContext },
): S {
  const flag = table[name]!;
  try {
    return flag.apply(settings, value, context);
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`, flag.help);
  }
}

function hintFor(name: string, known: readonly string[]): string {
  const near = known.filter((candidate) => candidate.includes(name) || name.includes(candidate) || sharedPrefix(candidate, name) >= 5);
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : `it has: ${known.join(', ')}`;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of a flag that is in no table. What is wrong with it becomes a UsageError that names the flag. */
export function flagValue<T>(name: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
}

/** The text of a file that a flag names. */
export function fileText(file: string, { cwd }: Pick<CliContext, 'cwd'>): string {
  try {
    return readFileSync(path.resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

export function booleanValue(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new Error(`'${text}' is neither true nor false`);
  return text === 'true';
}

export function numberValue(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new Error(`'${text}' is no number from 0 on`);
  return value;
}

/** In milliseconds. */
export function durationValue(text: string): number {
  const value = parseDurationMs(text);
  if (value < 0) throw new Error(`'${text}' is less than no time`);
  return value;
}

export function wholeNumberValue(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`'${text}' is no whole number from 0 on`);
  return Number(text);
}

export function listValue(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function oneOf<T extends string>(text: string, known: readonly T[]): T {
  if (!(known as readonly string[]).includes(text)) throw new Error(`'${text}' is none of ${known.join(', ')}`);
  return text as T;
}
