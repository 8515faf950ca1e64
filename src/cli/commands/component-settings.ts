import type { Command } from 'commander';
import { type ClusterConfig, type ComponentFlags, type ConfigFile, ConfigFileError } from '#cluster';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from '../flags/apiserver-flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { type FlagTable, settingsFromArguments } from '../flags/flag-table.ts';
import { KUBELET_FLAGS } from '../flags/kubelet-flags.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';
import { UsageError } from '../usage-error.ts';

export interface ComponentOptions {
  readonly apiserverArg?: readonly string[];
  readonly controllerManagerArg?: readonly string[];
  readonly schedulerArg?: readonly string[];
  readonly kubeletArg?: readonly string[];
}

export function addComponentOptions(command: Command): void {
  const collect = (value: string, previous: readonly string[] = []) => [...previous, value];
  command
    .option('--apiserver-arg <name=value>', 'a flag of the API server; repeatable', collect)
    .option('--controller-manager-arg <name=value>', 'a flag of the controller manager; repeatable', collect)
    .option('--scheduler-arg <name=value>', 'a flag of the scheduler; repeatable', collect)
    .option('--kubelet-arg <name=value>', 'a flag of every kubelet; repeatable', collect);
}

export type ComponentSettings = Pick<ClusterConfig, 'apiServer' | 'controllerManager' | 'scheduler' | 'kubelet'>;

/** Component flags as settings of the cluster, on top of others. */
export function componentSettings(options: ComponentOptions, context: CliContext, initial: ComponentSettings = {}): ComponentSettings {
  const { apiserverArg = [], controllerManagerArg = [], schedulerArg = [], kubeletArg = [] } = options;
  const { apiServer = {}, controllerManager = {}, scheduler = {}, kubelet = {} } = initial;
  const read = <S>(table: FlagTable<S>, args: readonly string[], { of, initial }: { of: string; initial: S }) =>
    settingsFromArguments(table, args, { initial, context, of });
  return {
    apiServer: read(APISERVER_FLAGS, apiserverArg, { initial: apiServer, of: 'the API server' }),
    controllerManager: read(CONTROLLER_MANAGER_FLAGS, controllerManagerArg, { initial: controllerManager, of: 'the controller manager' }),
    scheduler: read(SCHEDULER_FLAGS, schedulerArg, { initial: scheduler, of: 'the scheduler' }),
    kubelet: read(KUBELET_FLAGS, kubeletArg, { initial: kubelet, of: 'the kubelet' }),
  };
}

/** The flags of a configuration file; files that they name are found beside it. */
export function settingsFromFile(file: ConfigFile, context: CliContext): ComponentSettings {
  const args = (flags: ComponentFlags = {}) => Object.entries(flags).map(([name, value]) => `${name}=${value}`);
  const options = {
    apiserverArg: args(file.apiServer),
    controllerManagerArg: args(file.controllerManager),
    schedulerArg: args(file.scheduler),
    kubeletArg: args(file.kubelet),
  };
  try {
    return componentSettings(options, context);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new ConfigFileError([error.message, ...(error.hint ? [error.hint] : [])].join('; '));
  }
}
