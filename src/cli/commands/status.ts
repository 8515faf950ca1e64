import type { Command } from 'commander';
import { contextName, readState } from '#cluster';
import { addLocationOptions, directoryOf, isRunning, type LocationOptions } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';

export function configureStatus(command: Command, context: CliContext): void {
  addOutputOption(addLocationOptions(command)).action(async (options: LocationOptions & { output: OutputFormat }) => {
    const directory = directoryOf(options, context);
    const state = await readState(directory);
    const running = isRunning(state?.pid);
    const data = {
      name: options.name,
      running,
      ...(running && { pid: state?.pid, server: state?.server, startedAt: state?.startedAt, context: contextName(options.name) }),
      dataDirectory: directory.root,
    };
    const text = () =>
      running
        ? `Cluster '${options.name}' runs at ${state?.server} (process ${state?.pid}, since ${state?.startedAt}).`
        : `Cluster '${options.name}' does not run.`;
    printData(context, { format: options.output, data, text });
  });
}
