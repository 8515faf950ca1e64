import type { Command } from 'commander';
import { addLocationOptions, directoryOf, type LocationOptions } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';

export function configureLogs(command: Command, context: CliContext): void {
  addLocationOptions(command)
    .argument('[component]', 'only lines of this component')
    .option('--tail <lines>', 'how many lines, from the end', '200')
    .action(async (component: string | undefined, options: LocationOptions & { tail: string }) => {
      const directory = directoryOf(options, context);
      const text = await directory.read(directory.log);
      if (text === undefined)
        throw new Error(`cluster '${options.name}' has written no log; one that runs in the foreground writes to its terminal`);
      const lines = text.split('\n').filter((line) => line !== '' && (component === undefined || line.includes(component)));
      for (const line of lines.slice(-Number(options.tail))) context.print(line);
    });
}
