import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { lookupTable } from '#base';
import { goQuote } from '#machinery';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { FlagSyntaxError, goBoolean, goDuration, goInteger, goNumber } from './go-values.ts';

/** A component flag, with upstream's name. */
export interface Flag<Settings> {
  readonly help: string;
  /** The placeholder of its value in the help. */
  readonly value: string;
  /** May be repeated; values are joined by commas, or by lines where values contain commas. */
  readonly repeatable?: boolean | 'lines';
  /** Why it has no effect. Logged at start if the flag is given. */
  readonly noEffect?: string;
  /** Returns the settings with the flag's value. Throws on an invalid value. */
  readonly apply: (settings: Settings, value: string, context: CliContext) => Settings;
}

export type FlagTable<Settings> = Readonly<Record<string, Flag<Settings>>>;

/** Adds all flags of the table to a command. */
export function addFlags<S>(command: Command, table: FlagTable<S>): Command {
  for (const [name, { value, help, repeatable, noEffect }] of Object.entries(table)) {
    // As upstream, a boolean flag may be given without a value.
    const option = new Option(value === 'bool' ? `--${name} [bool]` : `--${name} <${value}>`, help);
    if (repeatable) option.argParser(repeatable === 'lines' ? joinedLines : joined);
    command.addOption(noEffect === undefined ? option : option.hideHelp());
  }
  return command;
}

const FORMS = lookupTable<(text: string) => unknown>({
  bool: booleanValue,
  duration: goDuration,
  number: goNumber,
  count: goInteger,
});

export type FlagForm = 'bool' | 'duration' | 'number' | 'count' | 'text' | 'list' | 'file';

/** Upstream flags without an effect, so that existing command lines work. Malformed values are errors. */
export function flagsWithoutEffect<S>(noEffect: string, forms: Readonly<Record<string, FlagForm>>): FlagTable<S> {
  return Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, flagWithoutEffect<S>(noEffect, form)]));
}

function flagWithoutEffect<S>(noEffect: string, value: FlagForm): Flag<S> {
  const apply = (settings: S, text: string) => {
    FORMS[value]?.(text);
    return settings;
  };
  return { help: `no effect: ${noEffect}`, value, noEffect, repeatable: value === 'list', apply };
}

function joined(value: string, previous?: string): string {
  return previous === undefined ? value : `${previous},${value}`;
}

function joinedLines(value: string, previous?: string): string {
  return previous === undefined ? value : `${previous}\n${value}`;
}

/** Settings from a command's options. */
export function settingsFromOptions<S>(
  table: FlagTable<S>,
  options: Readonly<Record<string, unknown>>,
  start: { initial: S; context: CliContext },
): S {
  let settings = start.initial;
  for (const name of Object.keys(table)) {
    const option = options[camelCase(name)];
    const value = option === true ? 'true' : option;
    if (typeof value === 'string') settings = applyFlag(table, { name, value }, { settings, context: start.context });
  }
  return settings;
}

/** Settings from arguments `name=value` or `--name=value`. `of` names the component. */
export function settingsFromArguments<S>(
  table: FlagTable<S>,
  args: readonly string[],
  start: { initial: S; context: CliContext; of: string },
): S {
  let settings = start.initial;
  for (const argument of args) {
    const [, name = '', text] = /^(?:--)?([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (!Object.hasOwn(table, name)) throw new UsageError(`${start.of} has no flag '${name}'`, hintFor(name, Object.keys(table)));
    const { value: form, help } = table[name]!;
    if (text === undefined && form !== 'bool') throw new UsageError(`--${name} needs a value, as ${name}=${form.toUpperCase()}`, help);
    const value = text ?? 'true';
    settings = applyFlag(table, { name, value }, { settings, context: start.context });
  }
  return settings;
}

function applyFlag<S>(
  table: FlagTable<S>,
  { name, value }: { name: string; value: string },
  { settings, context }: { settings: S; context: CliContext },
): S {
  const flag = table[name]!;
  // As upstream, the empty name of a file means none.
  if (flag.value === 'file' && value === '') return settings;
  try {
    const changed = flag.apply(settings, value, context);
    if (flag.noEffect !== undefined) context.note(`--${name} has no effect: ${flag.noEffect}`);
    return changed;
  } catch (error) {
    throw flagError({ name, value }, error, flag.help);
  }
}

function hintFor(name: string, names: readonly string[]): string {
  const misspelt = names.filter(
    (candidate) => Math.abs(candidate.length - name.length) <= 2 && sharedPrefix(candidate, name) >= name.length - 2,
  );
  const related = names.filter((candidate) => candidate.includes(name) || sharedPrefix(candidate, name) >= 5);
  const near = misspelt.length > 0 ? misspelt : related;
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : `it has: ${names.join(', ')}`;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Parses the value of a flag outside of a table. Errors become a UsageError that names the flag. */
export function flagValue<T>(name: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    throw flagError({ name, value: text }, error);
  }
}

/** Values of a wrong form are reported in the words of upstream. */
function flagError({ name, value }: { name: string; value: string }, error: unknown, hint?: string): UsageError {
  const { message } = error as Error;
  if (!(error instanceof FlagSyntaxError)) return new UsageError(`--${name}: ${message}`, hint);
  return new UsageError(`invalid argument ${goQuote(value)} for "--${name}" flag: ${message}`, hint);
}

/** The content of a file named by a flag. */
export function fileText(file: string, { cwd }: Pick<CliContext, 'cwd'>): string {
  try {
    return readFileSync(path.resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

export function booleanValue(text: string): boolean {
  return goBoolean(text);
}

export function numberValue(text: string): number {
  const value = goNumber(text);
  if (value < 0) throw new Error(`'${text}' is no number from 0 on`);
  return value;
}

/** In milliseconds. */
export function durationValue(text: string): number {
  const value = goDuration(text);
  if (value < 0) throw new Error(`'${text}' is less than no time`);
  return value;
}

export function wholeNumberValue(text: string): number {
  const value = goInteger(text);
  if (value < 0) throw new Error(`'${text}' is no whole number from 0 on`);
  return value;
}

export function portValue(text: string): number {
  const port = wholeNumberValue(text);
  if (port > 65_535) throw new Error(`'${text}' is no port`);
  return port;
}

export function ipValue(text: string): string {
  if (isIP(text) === 0) throw new FlagSyntaxError(`failed to parse IP: ${goQuote(text)}`);
  return text;
}

export function listValue(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function oneOf<T extends string>(text: string, allowed: readonly T[]): T {
  if (!(allowed as readonly string[]).includes(text)) throw new Error(`'${text}' is none of ${allowed.join(', ')}`);
  return text as T;
}
