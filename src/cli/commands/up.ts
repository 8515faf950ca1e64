import type { Command } from 'commander';
import { createLogger, MetricsRegistry, realClock, systemRandom } from '#base';
import {
  chooseRuntime,
  contextName,
  type LocalCluster,
  type LocalClusterOptions,
  type NodeRuntime,
  openLocalCluster,
  readRunning,
} from '#cluster';
import { directoryOf, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { printData } from '../output-option.ts';
import { runtimeSite } from '../runtime-site.ts';
import { startDetached } from '../start-detached.ts';
import { surviveFaults } from '../survive-faults.ts';
import { addUpOptions, localOptions, type UpOptions, withConfigFile } from './up-options.ts';

export function configureUp(command: Command, context: CliContext): void {
  addUpOptions(command).action((options: UpOptions) => up(withConfigFile(options, command, context), context));
}

async function up(options: UpOptions, context: CliContext): Promise<void> {
  const directory = directoryOf(options, context);
  const chosen = await chooseRuntime(options.runtime, runtimeSite(options, context));
  const local = localOptions(options, context, chosen);
  const running = await readRunning(directory);
  if (running !== undefined) {
    const where = `process ${running.pid}, ${running.server}`;
    throw new Error(`cluster '${options.name}' runs already (${where}); stop it with: sampan down${locationFlags(options)}`);
  }
  if (options.detach && !options.foreground) {
    const { server, pid } = await startDetached(directory, options.wait, context);
    return report(
      { server, pid, kubeconfig: directory.kubeconfig, dataDirectory: directory.root, ...shownNodes(local, chosen) },
      options,
      context,
    );
  }
  const steps = stepReporter(options, context);
  const deps = depsOf(options, context, steps.begin);
  using _faults = surviveFaults(process, deps);
  await using started = await openLocalCluster(local, deps, context.signal);
  steps.end();
  if (!options.foreground) report({ ...placeOf(started), pid: process.pid, ...shownNodes(local, chosen) }, options, context);
  await Promise.race([aborted(context.signal), started.cluster.done]);
  if (options.output === 'text' && !options.foreground) context.note('Stopping …');
}

/** A terminal shows warnings only; the log of a detached cluster has everything. */
function depsOf({ foreground }: UpOptions, { verbose }: CliContext, onStep: (step: string) => void) {
  const level = foreground ? (verbose ? 'debug' : 'info') : verbose ? 'info' : 'warn';
  const dates = foreground === true;
  const logger = createLogger({ clock: realClock, level, format: 'human', dates, write: (line) => void process.stderr.write(`${line}\n`) });
  return { clock: realClock, random: systemRandom, logger, metrics: new MetricsRegistry(), onStep };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
}

const STEP_WIDTH = 24;

/** Prints each step with its duration. */
function stepReporter({ output, foreground }: UpOptions, context: CliContext): { begin: (step: string) => void; end: () => void } {
  let current: { name: string; since: number } | undefined;
  const end = () => {
    if (current !== undefined && output === 'text' && !foreground)
      context.note(`  ✓ ${current.name.padEnd(STEP_WIDTH)}${Math.round(realClock.monotonic() - current.since)} ms`);
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

interface Place {
  readonly server: string;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
}

interface NodeSummary {
  readonly nodes: number;
  readonly runtime: string;
  /** Why containers are simulated although the user did not ask for it. */
  readonly reason?: string;
}

function shownNodes({ cluster }: LocalClusterOptions, chosen: NodeRuntime): NodeSummary {
  const reason = chosen.type === 'simulated' ? chosen.reason : undefined;
  return { nodes: cluster?.nodes?.length ?? 0, runtime: chosen.description, ...(reason !== undefined && { reason }) };
}

function placeOf({ server, kubeconfig, dataDirectory }: LocalCluster): Place {
  return { server, kubeconfig, dataDirectory };
}

function report(place: Place & NodeSummary & { pid: number }, options: UpOptions, context: CliContext): void {
  const { name, store } = options;
  const { reason: _, ...facts } = place;
  const data = { name, context: contextName(name), ...facts, store };
  printData(context, { format: options.output, data, text: () => readyMessage(place, options) });
}

function readyMessage({ server, kubeconfig, dataDirectory, nodes, runtime, reason }: Place & NodeSummary, options: UpOptions): string {
  const { name, store, merge } = options;
  const kubectl = merge && options.kubeconfig === undefined ? `--context ${contextName(name)}` : `--kubeconfig ${kubeconfig}`;
  const flags = locationFlags(options);
  const objects = store === 'embedded' ? `objects in ${dataDirectory}` : `objects in ${store === 'etcd' ? options.etcdServers : 'memory'}`;
  return [
    '',
    `Cluster '${name}' is ready at ${server}: ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${objects}`,
    reason === undefined ? `Containers: ${runtime}` : `Containers are simulated, since ${reason}`,
    '',
    `  talk to it   kubectl ${kubectl} get nodes`,
    `  stop it      ${options.detach ? '' : 'Ctrl-C here, or: '}sampan down${flags}`,
    `  forget it    sampan delete${flags}`,
    '',
  ].join('\n');
}
