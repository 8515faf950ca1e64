import type { Command } from 'commander';
import { addLocationOptions, directoryOf, type LocationOptions } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';

/** Component names in the log. */
const COMPONENTS = ['apiserver', 'controller-manager', 'scheduler', 'kubelet'];

export function configureLogs(command: Command, context: CliContext): void {
  addLocationOptions(command)
    .argument('[component]', `only what this one wrote: ${COMPONENTS.join(', ')}`)
    .option('--tail <lines>', 'how many lines, from the end', '200')
    .action(async (component: string | undefined, options: LocationOptions & { tail: string }) => {
      const count = linesOf(options.tail);
      if (component !== undefined && !COMPONENTS.includes(component))
        throw new UsageError(`there is no component '${component}'`, `it is one of ${COMPONENTS.join(', ')}`);
      const directory = directoryOf(options, context);
      const text = await directory.read(directory.log);
      if (text === undefined)
        throw new Error(`cluster '${options.name}' has written no log; one that runs in the foreground writes to its terminal`);
      for (const line of linesFrom(text, component).slice(-count)) context.print(line);
    });
}

function linesOf(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--tail: '${text}' is no number of lines`, 'give a whole number from 1 on');
  return Number(text);
}

/** `2026-01-02T12:00:00.000Z INFO  component: message`; other lines, such as stacks, belong to the previous entry. */
const ENTRY = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [A-Z]+ +(?:([\w-]+): )?/;

export function linesFrom(log: string, component: string | undefined): readonly string[] {
  let writer: string | undefined;
  return log.split('\n').filter((line) => {
    const entry = ENTRY.exec(line);
    if (entry !== null) writer = entry[1];
    return line !== '' && (component === undefined || writer === component);
  });
}
