import type { Command } from 'commander';
import { addLocationOptions, directoryOf, type LocationOptions, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';

export function configureKubeconfig(command: Command, context: CliContext): void {
  addLocationOptions(command).action(async (options: LocationOptions) => {
    const directory = directoryOf(options, context);
    const text = await directory.read(directory.kubeconfig);
    if (text === undefined)
      throw new Error(`cluster '${options.name}' was never started here; start it with: sampan up${locationFlags(options)}`);
    context.print(text.trimEnd());
  });
}
