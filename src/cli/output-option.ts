import { type Command, Option } from 'commander';
import type { CliContext } from './context.ts';

export type OutputFormat = 'text' | 'json';

/** `--output json` for programs; text by default. */
export function addOutputOption(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'how to print the result').choices(['text', 'json']).default('text'));
}

export interface PrintDataOptions<T> {
  format: OutputFormat;
  data: T;
  /** The data as text. */
  text: (data: T) => string;
}

export function printData<T>(context: CliContext, { format, data, text }: PrintDataOptions<T>): void {
  context.print(format === 'json' ? JSON.stringify(data, undefined, 2) : text(data));
}
