import type { Command } from 'commander';
import { lookupTable } from '#base';
import { createClient } from '#client';
import { contextName, readRunning } from '#cluster';
import { addLocationOptions, directoryOf, type LocationOptions } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';

export function configureStatus(command: Command, context: CliContext): void {
  addOutputOption(addLocationOptions(command)).action(async (options: LocationOptions & { output: OutputFormat }) => {
    const directory = directoryOf(options, context);
    const state = await readRunning(directory);
    const failed = state && (await failedChecks(directory.kubeconfig));
    const data = {
      name: options.name,
      running: state !== undefined,
      ...(state && { pid: state.pid, server: state.server, startedAt: state.startedAt, context: contextName(options.name) }),
      ...(state?.runtime && { runtime: state.runtime.description }),
      ...(failed && { failedChecks: failed }),
      dataDirectory: directory.root,
    };
    const text = () =>
      state
        ? [
            `Cluster '${options.name}' runs at ${state.server} (process ${state.pid}, since ${state.startedAt}).`,
            ...(state.runtime ? [`Containers: ${state.runtime.description}`] : []),
            ...(failed ?? []).map((check) => `Not ready: ${WHY[check] ?? check}.`),
          ].join('\n')
        : `Cluster '${options.name}' does not run.`;
    printData(context, { format: options.output, data, text });
  });
}

const WHY = lookupTable<string>({
  'database-quota':
    'the database is full and writes fail (database-quota); delete objects, or start with a larger --apiserver-arg quota-backend-bytes=…',
  'heap-quota':
    'the heap is nearly full and no objects can be created (heap-quota); delete objects, or start with NODE_OPTIONS=--max-old-space-size=MEBIBYTES',
});
/** The prefix of failed checks. */
const FAILED = '[-]';
const READY_TIMEOUT_MS = 5_000;

/** The failed readiness checks of the server. */
async function failedChecks(kubeconfig: string): Promise<readonly string[]> {
  await using client = await createClient({ kubeconfig: { path: kubeconfig } });
  try {
    await client.transport.text({ method: 'GET', path: '/readyz', signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    return [];
  } catch (error) {
    const lines = (error as Error).message.split('\n').filter((line) => line.startsWith(FAILED));
    const checks = lines.map((line) => line.slice(FAILED.length).split(' ', 1)[0]!);
    return checks.length > 0 ? checks : [`it does not answer (${(error as Error).message})`];
  }
}
