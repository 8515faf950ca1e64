import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { contextName, readIfExists, readState, releaseMachine, withoutCluster } from '#cluster';
import { addLocationOptions, directoryOf, type LocationOptions, userKubeconfig } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { stopCluster } from './down.ts';

export function configureDelete(command: Command, context: CliContext): void {
  addLocationOptions(command)
    .option('-y, --yes', 'do not ask')
    .action(async (options: LocationOptions & { yes?: boolean }) => {
      const directory = directoryOf(options, context);
      if (!(await directory.exists())) return context.note(`There is no cluster '${options.name}' in ${directory.root}.`);
      if (!options.yes) await confirm(`Delete cluster '${options.name}' and all it keeps in ${directory.root}?`, context);
      const merged = (await readState(directory))?.kubeconfig ?? userKubeconfig(context);
      await stopCluster(options, context);
      await releaseMachine(directory.root);
      await directory.remove();
      await forget(options.name, merged);
      context.note(`Cluster '${options.name}' is gone.`);
    });
}

async function confirm(question: string, context: CliContext): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('deleting a cluster needs a yes', 'add --yes');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `, { signal: context.signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was deleted');
  } finally {
    prompt.close();
  }
}

/** Removes the cluster's context from the user's kubeconfig. */
async function forget(name: string, file: string): Promise<void> {
  const text = await readIfExists(file);
  if (text?.includes(contextName(name))) await writeFile(file, withoutCluster(text, contextName(name)), { mode: 0o600 });
}
