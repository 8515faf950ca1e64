import type { Command } from 'commander';
import type { ClusterConfig } from '#cluster';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from '../flags/apiserver-flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { settingsFromArguments } from '../flags/flag-table.ts';
import { KUBELET_FLAGS } from '../flags/kubelet-flags.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';

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

type ComponentSettings = Pick<ClusterConfig, 'apiServer' | 'controllerManager' | 'scheduler' | 'kubelet'>;

/** Component flags as settings of the cluster. */
export function componentSettings(options: ComponentOptions, context: CliContext): ComponentSettings {
  const { apiserverArg = [], controllerManagerArg = [], schedulerArg = [], kubeletArg = [] } = options;
  return {
    apiServer: settingsFromArguments(APISERVER_FLAGS, apiserverArg, { initial: {}, context, of: 'the API server' }),
    controllerManager: settingsFromArguments(CONTROLLER_MANAGER_FLAGS, controllerManagerArg, {
      initial: {},
      context,
      of: 'the controller manager',
    }),
    scheduler: settingsFromArguments(SCHEDULER_FLAGS, schedulerArg, { initial: {}, context, of: 'the scheduler' }),
    kubelet: settingsFromArguments(KUBELET_FLAGS, kubeletArg, { initial: {}, context, of: 'the kubelet' }),
  };
}
