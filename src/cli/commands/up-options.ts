import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { unixSocketPath } from '#base';
import {
  type ConfigFile,
  ConfigFileError,
  type LocalClusterOptions,
  type NodeRuntime,
  type NodeSpecification,
  parseConfigFile,
  type RuntimeChoice,
  simulatedNodes,
} from '#cluster';
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

/** The options of `sampan up`; a configuration file provides defaults. */
export interface UpOptions extends LocationOptions, ComponentOptions {
  readonly host: string;
  readonly port?: number;
  /** Undefined: one, unless there is a machine node. */
  readonly nodes?: number;
  readonly runtime: RuntimeChoice;
  readonly nodeName?: string;
  readonly store: 'embedded' | 'memory' | 'etcd';
  readonly etcdServers?: string;
  readonly encryptSecrets?: boolean;
  readonly kubeconfig?: string;
  readonly merge: boolean;
  /** Milliseconds. */
  readonly wait: number;
  readonly config?: string;
  readonly detach?: boolean;
  /** Set in the background process of a detached start. */
  readonly foreground?: boolean;
  readonly output: OutputFormat;
  /** Component settings of the configuration file. */
  readonly fromFile?: ComponentSettings;
}

export function addUpOptions(command: Command): Command {
  addLocationOptions(command)
    .option('--config <file>', 'a YAML file with settings; what the command line says wins')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on (default: 6443, or a free one)', number('a port', 65535))
    .addOption(
      new Option(
        '--runtime <runtime>',
        "where this machine's containers come from: auto, simulated, containerd or unix:///path of a CRI socket",
      )
        .argParser(runtime)
        .default('auto'),
    )
    .option('--node-name <name>', "the name of this machine's node (default: the host's)", nodeName)
    .option(
      '--nodes <count>',
      'how many simulated nodes the cluster has (default: 1 without real containers, else 0)',
      number('a number of nodes', 10_000),
    )
    .addOption(new Option('--store <engine>', 'where objects are kept').choices(['embedded', 'memory', 'etcd']).default('embedded'))
    .option('--etcd-servers <urls>', 'the members of the etcd cluster, separated by commas (with --store etcd)')
    .option('--encrypt-secrets', 'encrypt secrets in the store, with a key that is made once and kept in the data directory')
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

function number(noun: string, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > most) throw new InvalidArgumentError(`It must be ${noun} from 0 to ${most}.`);
    return value;
  };
}

function runtime(text: string): RuntimeChoice {
  if (text === 'auto' || text === 'simulated' || text === 'containerd') return text;
  if (unixSocketPath(text) === undefined) throw new InvalidArgumentError('It must be auto, simulated, containerd or unix:///path.');
  return text as RuntimeChoice;
}

function nodeName(text: string): string {
  if (text.length > 253 || !text.split('.').every((label) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(label)))
    throw new InvalidArgumentError('It must be a DNS name in lower case.');
  return text;
}

function duration(text: string): number {
  try {
    return parseDurationMs(text);
  } catch {
    throw new InvalidArgumentError("It must be a duration such as '30s' or '2m'.");
  }
}

/** The options merged with a configuration file. */
export function withConfigFile(options: UpOptions, command: Command, context: CliContext): UpOptions {
  if (options.config === undefined) return options;
  const file = path.resolve(context.cwd, options.config);
  try {
    const config = parseConfigFile(readFileSync(file, 'utf8'));
    const fromFile = settingsFromFile(config, { ...context, cwd: path.dirname(file) });
    const isSet = (option: string) => command.getOptionValueSource(option) === 'cli';
    const added = Object.entries(optionsOf(config, path.dirname(file))).filter(([option]) => !isSet(option));
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

/** Throws a UsageError on conflicting options. */
export function localOptions(options: UpOptions, context: CliContext, chosen: NodeRuntime): LocalClusterOptions {
  const kubeconfig = options.kubeconfig === undefined ? userKubeconfig(context) : path.resolve(context.cwd, options.kubeconfig);
  return {
    name: options.name,
    dataDirectory: directoryOf(options, context).root,
    host: options.host,
    ...(options.port !== undefined && { port: options.port }),
    store: storeOf(options),
    ...(options.encryptSecrets && { encryptSecrets: true }),
    ...(options.merge && { kubeconfig }),
    waitMs: options.wait,
    runtime: chosen,
    cluster: {
      ...componentSettings(options, context, options.fromFile),
      localStorage: {},
      nodes: nodesOf(options, context, chosen),
    },
  };
}

/** The machine node, if containers can run, and the simulated nodes. */
function nodesOf(options: UpOptions, context: CliContext, chosen: NodeRuntime): readonly NodeSpecification[] {
  const { nodes = chosen.type === 'simulated' ? 1 : 0, nodeName: name = hostname().toLowerCase() } = options;
  const simulated = simulatedNodes(Array.from({ length: nodes }, (_, i) => `node-${i + 1}`));
  if (chosen.type === 'simulated') return simulated;
  return [{ type: 'machine', name, runtime: chosen, directory: directoryOf(options, context).root }, ...simulated];
}

function storeOf({ store, etcdServers }: UpOptions): LocalClusterOptions['store'] {
  if (store !== 'etcd') {
    if (etcdServers !== undefined) throw new UsageError('--etcd-servers requires --store etcd', 'add --store etcd');
    return { type: store };
  }
  const endpoints = (etcdServers ?? '').split(',').filter((url) => url !== '');
  if (endpoints.length === 0) throw new UsageError('--store etcd needs --etcd-servers', 'for example --etcd-servers http://127.0.0.1:2379');
  return { type: 'etcd', endpoints };
}
