import { CommanderError } from 'commander';
import type { CliContext } from './context.ts';
import { red } from './style.ts';
import { UsageError } from './usage-error.ts';

export interface ReportOptions {
  context: CliContext;
  /** Whether to show the stack trace. */
  verbose: boolean;
  /** The requested sub-command, if any. */
  command: string | undefined;
}

/** Prints the error and what to do about it to stderr; returns the exit code. */
export function reportError(error: unknown, options: ReportOptions): number {
  const { context, verbose, command } = options;
  const usage = error instanceof CommanderError || error instanceof UsageError;
  const label = context.color.stderr ? red('error:') : 'error:';
  context.note(`${label} ${messageOf(error)}`);
  const hint = hintFor(error, command);
  if (hint) context.note(`hint: ${hint}`);
  if (verbose && error instanceof Error) context.note(String(error.stack));
  return usage ? 2 : 1;
}

const SUGGESTION = /\n\(Did you mean (.*)\?\)$/;

/** The message with its causes, without commander's prefix and suggestion. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error instanceof CommanderError ? error.message.replace(/^error: /, '').replace(SUGGESTION, '') : error.message;
  const causes: string[] = [];
  for (let { cause } = error; cause !== undefined; cause = cause instanceof Error ? cause.cause : undefined) {
    const text = cause instanceof Error ? cause.message : String(cause);
    // Many messages quote their cause already.
    if (![message, ...causes].some((outer) => outer.includes(text))) causes.push(text);
  }
  return [message, ...causes].join(': ');
}

function hintFor(error: unknown, command: string | undefined): string | undefined {
  if (error instanceof UsageError && error.hint) return error.hint;
  if (!(error instanceof CommanderError || error instanceof UsageError)) return undefined;
  const suggestion = SUGGESTION.exec(error.message)?.[1];
  const unknown = error instanceof CommanderError && error.code === 'commander.unknownCommand';
  const help = `see 'sampan ${command && !unknown ? `${command} ` : ''}--help'`;
  return suggestion ? `did you mean ${suggestion}? Otherwise ${help}` : help;
}
