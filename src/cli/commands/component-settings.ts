import type { Command } from 'commander';
import { checkRanges } from '#cloud';
import { type ClusterConfig, type ComponentFlags, type ConfigFile, ConfigFileError } from '#cluster';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from '../flags/apiserver-flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { type FlagTable, flagValue, settingsFromArguments } from '../flags/flag-table.ts';
import { KUBELET_FLAGS } from '../flags/kubelet-flags.ts';
import { PROXY_FLAGS } from '../flags/proxy-flags.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';
import { checkConfiguration, configurationFrom } from '../kubelet-configuration.ts';
import { UsageError } from '../usage-error.ts';

export interface ComponentOptions {
  readonly apiserverArg?: readonly string[];
  readonly controllerManagerArg?: readonly string[];
  readonly schedulerArg?: readonly string[];
  readonly kubeletArg?: readonly string[];
  readonly proxyArg?: readonly string[];
  readonly loadBalancerRange?: readonly string[];
}

export function addComponentOptions(command: Command): void {
  const collect = (value: string, previous: readonly string[] = []) => [...previous, value];
  command
    .option('--apiserver-arg <name=value>', 'a flag of the API server; repeatable', collect)
    .option('--controller-manager-arg <name=value>', 'a flag of the controller manager; repeatable', collect)
    .option('--scheduler-arg <name=value>', 'a flag of the scheduler; repeatable', collect)
    .option('--kubelet-arg <name=value>', 'a flag of every kubelet, or config=FILE with a KubeletConfiguration; repeatable', collect)
    .option('--proxy-arg <name=value>', "a flag of the proxy of this machine's node; repeatable", collect)
    .option('--load-balancer-range <range>', "addresses for services of type LoadBalancer (default: the node's own); repeatable", collect);
}

export type ComponentSettings = Pick<ClusterConfig, 'apiServer' | 'controllerManager' | 'scheduler' | 'kubelet' | 'network'>;

/** `config` is a KubeletConfiguration, most fields of which have no flag. Flags override it. */
const MACHINE_KUBELET_FLAGS: typeof KUBELET_FLAGS = {
  config: {
    value: 'file',
    help: 'a KubeletConfiguration',
    apply: (settings, file, context) => {
      const { configuration, warnings } = configurationFrom({ config: file }, context);
      for (const warning of warnings) context.note(warning);
      checkConfiguration(configuration, { warn: (sentence) => context.note(sentence) });
      return { ...settings, configuration: { ...configuration, ...settings.configuration } };
    },
  },
  ...KUBELET_FLAGS,
};

/** Cluster settings from component flags, on top of others. */
export function componentSettings(options: ComponentOptions, context: CliContext, initial: ComponentSettings = {}): ComponentSettings {
  const { apiserverArg = [], controllerManagerArg = [], schedulerArg = [], kubeletArg = [], proxyArg = [] } = options;
  const { apiServer = {}, controllerManager = {}, scheduler = {}, kubelet = {}, network = {} } = initial;
  const read = <S>(table: FlagTable<S>, args: readonly string[], { of, initial }: { of: string; initial: S }) =>
    settingsFromArguments(table, args, { initial, context, of });
  return {
    apiServer: read(APISERVER_FLAGS, apiserverArg, { initial: apiServer, of: 'the API server' }),
    controllerManager: read(CONTROLLER_MANAGER_FLAGS, controllerManagerArg, { initial: controllerManager, of: 'the controller manager' }),
    scheduler: read(SCHEDULER_FLAGS, schedulerArg, { initial: scheduler, of: 'the scheduler' }),
    kubelet: read(MACHINE_KUBELET_FLAGS, kubeletArg, { initial: kubelet, of: 'the kubelet' }),
    network: {
      proxy: read(PROXY_FLAGS, proxyArg, { initial: network.proxy ?? {}, of: 'the proxy' }),
      loadBalancer: { ranges: loadBalancerRanges(options) ?? network.loadBalancer?.ranges ?? [] },
    },
  };
}

function loadBalancerRanges({ loadBalancerRange }: ComponentOptions): readonly string[] | undefined {
  return loadBalancerRange && flagValue('load-balancer-range', loadBalancerRange.join(), (text) => checkedRanges(text.split(',')));
}

function checkedRanges(ranges: readonly string[]): readonly string[] {
  checkRanges(ranges);
  return ranges;
}

/** The flags of a configuration file; paths are relative to it. */
export function settingsFromFile(file: ConfigFile, context: CliContext): ComponentSettings {
  const args = (flags: ComponentFlags = {}) => Object.entries(flags).map(([name, value]) => `${name}=${value}`);
  const options = {
    apiserverArg: args(file.apiServer),
    controllerManagerArg: args(file.controllerManager),
    schedulerArg: args(file.scheduler),
    kubeletArg: args(file.kubelet),
    proxyArg: args(file.proxy),
    ...(file.loadBalancerRanges && { loadBalancerRange: file.loadBalancerRanges }),
  };
  try {
    return componentSettings(options, context);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new ConfigFileError([error.message, ...(error.hint ? [error.hint] : [])].join('; '));
  }
}
