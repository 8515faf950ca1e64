import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { DataDirectory } from '#cluster';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

export interface LocationOptions {
  readonly name: string;
  readonly dataDir?: string;
}

/** Options that select the cluster. */
export function addLocationOptions(command: Command): Command {
  return command.option('--name <name>', 'which cluster', 'default').option('--data-dir <directory>', 'where the cluster keeps its data');
}

export function directoryOf({ name, dataDir }: LocationOptions, { env, cwd }: CliContext): DataDirectory {
  if (!/^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/.test(name)) {
    throw new UsageError(`'${name}' cannot be the name of a cluster`, 'use lower-case letters, digits and dashes');
  }
  if (dataDir !== undefined) return new DataDirectory(path.resolve(cwd, dataDir));
  const home = env.XDG_DATA_HOME || path.join(env.HOME || os.homedir(), '.local', 'share');
  return new DataDirectory(path.join(home, 'sampan', name));
}

/** kubectl's kubeconfig: the first file in KUBECONFIG, or the one in the home directory. */
export function userKubeconfig({ env, cwd }: CliContext): string {
  const first = env.KUBECONFIG?.split(path.delimiter).find((file) => file !== '');
  return first === undefined ? path.join(env.HOME || os.homedir(), '.kube', 'config') : path.resolve(cwd, first);
}

/** The location options for commands in hints. */
export function locationFlags({ name, dataDir }: LocationOptions): string {
  return `${name === 'default' ? '' : ` --name ${name}`}${dataDir === undefined ? '' : ` --data-dir ${dataDir}`}`;
}
