import type { Command } from 'commander';
import { contextName, readRunning } from '#cluster';
import { addLocationOptions, directoryOf, type LocationOptions } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';

export function configureStatus(command: Command, context: CliContext): void {
  addOutputOption(addLocationOptions(command)).action(async (options: LocationOptions & { output: OutputFormat }) => {
    const directory = directoryOf(options, context);
    const state = await readRunning(directory);
    const data = {
      name: options.name,
      running: state !== undefined,
      ...(state && { pid: state.pid, server: state.server, startedAt: state.startedAt, context: contextName(options.name) }),
      dataDirectory: directory.root,
    };
    const text = () =>
      state
        ? `Cluster '${options.name}' runs at ${state.server} (process ${state.pid}, since ${state.startedAt}).`
        : `Cluster '${options.name}' does not run.`;
    printData(context, { format: options.output, data, text });
  });
}
