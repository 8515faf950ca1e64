import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ConfigFile, ConfigFileError, type LocalClusterOptions, parseConfigFile } from '#cluster';
import { parseDurationMs } from '#machinery';
import { addLocationOptions, directoryOf, type LocationOptions, userKubeconfig } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat } from '../output-option.ts';
import { UsageError } from '../usage-error.ts';
import {
  addComponentOptions,
  type ComponentOptions,
  type ComponentSettings,
  componentSettings,
  settingsFromFile,
} from './component-settings.ts';

/** What the command line says about a cluster to start, a configuration file filling in what it does not. */
export interface UpOptions extends LocationOptions, ComponentOptions {
  readonly host: string;
  readonly port?: number;
  readonly nodes: number;
  readonly store: 'embedded' | 'memory' | 'etcd';
  readonly etcdServers?: string;
  readonly kubeconfig?: string;
  readonly merge: boolean;
  /** Milliseconds. */
  readonly wait: number;
  readonly config?: string;
  readonly detach?: boolean;
  /** The background half of a detached start. */
  readonly foreground?: boolean;
  readonly output: OutputFormat;
  /** What the configuration file says about the components. */
  readonly fromFile?: ComponentSettings;
}

export function addUpOptions(command: Command): Command {
  addLocationOptions(command)
    .option('--config <file>', 'a YAML file with settings; what the command line says wins')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on (default: 6443, or a free one)', number('a port', 65535))
    .option('--nodes <count>', 'how many simulated nodes the cluster has', number('a number of nodes', 10_000), 1)
    .addOption(new Option('--store <engine>', 'where objects are kept').choices(['embedded', 'memory', 'etcd']).default('embedded'))
    .option('--etcd-servers <urls>', 'the members of the etcd cluster, separated by commas (with --store etcd)')
    .option('--kubeconfig <file>', "the kubeconfig that gets the cluster's context (default: the one kubectl uses)")
    .option('--no-merge', 'leave that kubeconfig alone')
    .addOption(
      new Option('--wait <duration>', 'how long to wait until every node is Ready and the default service account exists; 0s not to wait')
        .argParser(duration)
        .default(60_000, '1m'),
    )
    .option('-d, --detach', 'return when the cluster is ready, and leave it running')
    .addOption(new Option('--foreground').hideHelp());
  addComponentOptions(command);
  return addOutputOption(command);
}

function number(what: string, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > most) throw new InvalidArgumentError(`It must be ${what} from 0 to ${most}.`);
    return value;
  };
}

function duration(text: string): number {
  try {
    return parseDurationMs(text);
  } catch {
    throw new InvalidArgumentError("It must be a duration such as '30s' or '2m'.");
  }
}

/** The options with what a configuration file adds to them. */
export function withConfigFile(options: UpOptions, command: Command, context: CliContext): UpOptions {
  if (options.config === undefined) return options;
  const file = path.resolve(context.cwd, options.config);
  try {
    const config = parseConfigFile(readFileSync(file, 'utf8'));
    const fromFile = settingsFromFile(config, { ...context, cwd: path.dirname(file) });
    const isGiven = (option: string) => command.getOptionValueSource(option) === 'cli';
    const added = Object.entries(optionsOf(config, path.dirname(file))).filter(([option]) => !isGiven(option));
    return { ...options, ...Object.fromEntries(added), fromFile };
  } catch (error) {
    if (error instanceof ConfigFileError) throw new Error(`${options.config}: ${error.message}`);
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw new Error(`cannot read the configuration ${options.config} (${code}); check the path that --config names`);
  }
}

function optionsOf({ store, waitMs, dataDir, kubeconfig, ...rest }: ConfigFile, directory: string): Record<string, unknown> {
  const { apiServer, controllerManager, scheduler, kubelet, ...plain } = rest;
  return {
    ...plain,
    ...(waitMs !== undefined && { wait: waitMs }),
    ...(dataDir !== undefined && { dataDir: path.resolve(directory, dataDir) }),
    ...(kubeconfig !== undefined && { kubeconfig: path.resolve(directory, kubeconfig) }),
    ...(store && { store: store.type, ...(store.etcdServers && { etcdServers: store.etcdServers.join(',') }) }),
  };
}

/** Throws a UsageError for options that do not go together. */
export function localOptions(options: UpOptions, context: CliContext): LocalClusterOptions {
  const kubeconfig = options.kubeconfig === undefined ? userKubeconfig(context) : path.resolve(context.cwd, options.kubeconfig);
  return {
    name: options.name,
    dataDirectory: directoryOf(options, context).root,
    host: options.host,
    ...(options.port !== undefined && { port: options.port }),
    store: storeOf(options),
    ...(options.merge && { kubeconfig }),
    waitMs: options.wait,
    cluster: {
      ...componentSettings(options, context, options.fromFile),
      nodes: Array.from({ length: options.nodes }, (_, i) => `node-${i + 1}`),
    },
  };
}

function storeOf({ store, etcdServers }: UpOptions): LocalClusterOptions['store'] {
  if (store !== 'etcd') {
    if (etcdServers !== undefined) throw new UsageError('--etcd-servers goes with --store etcd', 'add --store etcd');
    return { type: store };
  }
  const endpoints = (etcdServers ?? '').split(',').filter((url) => url !== '');
  if (endpoints.length === 0) throw new UsageError('--store etcd needs --etcd-servers', 'for example --etcd-servers http://127.0.0.1:2379');
  return { type: 'etcd', endpoints };
}
