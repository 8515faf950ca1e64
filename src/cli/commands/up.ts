import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createLogger, realClock, systemRandom } from '#base';
import { contextName, type DataDirectory, type LocalCluster, type LocalClusterOptions, openLocalCluster, readState } from '#cluster';
import { addLocationOptions, directoryOf, isRunning, type LocationOptions, userKubeconfig } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';
import { UsageError } from '../usage-error.ts';
import { addComponentOptions, type ComponentOptions, componentSettings } from './component-settings.ts';

interface UpOptions extends LocationOptions, ComponentOptions {
  readonly host: string;
  readonly port?: number;
  readonly nodes: number;
  readonly store: 'embedded' | 'memory' | 'etcd';
  readonly etcdServers?: string;
  readonly kubeconfig?: string;
  readonly merge: boolean;
  readonly detach?: boolean;
  readonly output: OutputFormat;
  readonly verbose?: boolean;
}

export function configureUp(command: Command, context: CliContext): void {
  addLocationOptions(command)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on (default: 6443, or a free one)', number('a port', 0, 65535))
    .option('--nodes <count>', 'how many simulated nodes the cluster has', number('a number of nodes', 0, 10_000), 1)
    .addOption(new Option('--store <engine>', 'where objects are kept').choices(['embedded', 'memory', 'etcd']).default('embedded'))
    .option('--etcd-servers <urls>', 'the members of the etcd cluster, separated by commas (with --store etcd)')
    .option('--kubeconfig <file>', "the kubeconfig that gets the cluster's context (default: the one kubectl uses)")
    .option('--no-merge', 'leave that kubeconfig alone')
    .option('-d, --detach', 'return when the cluster is ready, and leave it running');
  addComponentOptions(command);
  addOutputOption(command).action((options: UpOptions) => up(options, context));
}

function number(what: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be ${what} from ${least} to ${most}.`);
    return value;
  };
}

async function up(options: UpOptions, context: CliContext): Promise<void> {
  const directory = directoryOf(options, context);
  const running = await readState(directory);
  if (running !== undefined && isRunning(running.pid)) {
    throw new Error(
      `cluster '${options.name}' runs already (process ${running.pid}, ${running.server}); stop it with: sampan down${nameFlag(options)}`,
    );
  }
  if (options.detach) return detach(options, directory, context);
  await using started = await start(options, directory, context);
  report(started, options, context);
  await Promise.race([aborted(context.signal), started.cluster.done]);
  if (options.output === 'text') context.note('Stopping …');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
}

async function start(options: UpOptions, directory: DataDirectory, context: CliContext): Promise<LocalCluster> {
  const level = options.verbose ? 'info' : 'warn';
  const logger = createLogger({ clock: realClock, level, format: 'human', write: (line) => void process.stderr.write(line) });
  const steps = stepReporter(options, context);
  const started = await openLocalCluster(
    localOptions(options, directory, context),
    { clock: realClock, random: systemRandom, logger, onStep: steps.begin },
    context.signal,
  );
  steps.end();
  return started;
}

function localOptions(options: UpOptions, directory: DataDirectory, context: CliContext): LocalClusterOptions {
  const kubeconfig = options.kubeconfig === undefined ? userKubeconfig(context) : path.resolve(context.cwd, options.kubeconfig);
  return {
    name: options.name,
    dataDirectory: directory.root,
    host: options.host,
    ...(options.port !== undefined && { port: options.port }),
    store: storeOf(options),
    ...(options.merge && { kubeconfig }),
    cluster: { ...componentSettings(options, context), nodes: Array.from({ length: options.nodes }, (_, i) => `node-${i + 1}`) },
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

/** Shows each step when it is done, with the time it took. */
function stepReporter({ output }: UpOptions, context: CliContext): { begin: (step: string) => void; end: () => void } {
  let current: { name: string; since: number } | undefined;
  const end = () => {
    if (current !== undefined && output === 'text')
      context.note(`  ✓ ${current.name.padEnd(20)}${Math.round(realClock.monotonic() - current.since)} ms`);
    current = undefined;
  };
  return {
    begin: (name) => {
      end();
      current = { name, since: realClock.monotonic() };
    },
    end,
  };
}

function report({ server, kubeconfig, dataDirectory }: LocalCluster, options: UpOptions, context: CliContext): void {
  const { name, merge, nodes, store } = options;
  const data = { name, context: contextName(name), server, kubeconfig, dataDirectory, nodes, store, pid: process.pid };
  printData(context, { format: options.output, data, text: () => welcome(data, merge) });
}

interface Running {
  readonly name: string;
  readonly context: string;
  readonly server: string;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
  readonly nodes: number;
  readonly store: string;
}

function welcome({ name, context, server, kubeconfig, dataDirectory, nodes, store }: Running, merged: boolean): string {
  const kubectl = merged ? `kubectl --context ${context}` : `kubectl --kubeconfig ${kubeconfig}`;
  const flag = name === 'default' ? '' : ` --name ${name}`;
  return [
    '',
    `Cluster '${name}' is ready at ${server}: ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${store} store in ${dataDirectory}`,
    '',
    `  talk to it   ${kubectl} get nodes`,
    `  stop it      Ctrl-C here, or: sampan down${flag}`,
    `  forget it    sampan delete${flag}`,
    '',
  ].join('\n');
}

function nameFlag({ name }: LocationOptions): string {
  return name === 'default' ? '' : ` --name ${name}`;
}

const POLL_MS = 25;
const DETACH_TIMEOUT_MS = 60_000;

/** Runs the same command in the background and waits until it is ready. */
async function detach(options: UpOptions, directory: DataDirectory, context: CliContext): Promise<void> {
  await directory.create();
  const log = openSync(directory.log, 'a', 0o600);
  const args = process.argv.slice(1).filter((arg) => arg !== '-d' && arg !== '--detach');
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log], cwd: context.cwd });
  closeSync(log);
  let code: number | undefined;
  child.once('exit', (exit) => {
    code = exit ?? 1;
  });
  const deadline = realClock.monotonic() + DETACH_TIMEOUT_MS;
  for (;;) {
    const state = await readState(directory);
    if (state?.pid === child.pid && state?.server) break;
    if (code !== undefined)
      throw new Error(`the cluster could not start; its log is ${directory.log}:\n${(await tail(directory)).trimEnd()}`);
    if (realClock.monotonic() > deadline) throw new Error(`the cluster is not ready after a minute; its log is ${directory.log}`);
    await realClock.sleep(POLL_MS, context.signal);
  }
  child.unref();
  const { server } = (await readState(directory))!;
  const { name, merge, nodes, store } = options;
  const data = {
    name,
    context: contextName(name),
    server,
    kubeconfig: directory.kubeconfig,
    dataDirectory: directory.root,
    nodes,
    store,
    pid: child.pid,
  };
  printData(context, { format: options.output, data, text: () => welcome(data, merge).replace('Ctrl-C here, or: ', '') });
}

async function tail(directory: DataDirectory): Promise<string> {
  return ((await directory.read(directory.log)) ?? '').split('\n').slice(-8).join('\n');
}
