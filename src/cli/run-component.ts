import { hostname } from 'node:os';
import type { Command } from 'commander';
import { type Component, createLogger, type Logger, MetricsRegistry, realClock, systemRandom } from '#base';
import { Client, type ConnectionConfig, httpsTransport, type LeaderElectionConfig, loadConnection } from '#client';
import type { CliContext } from './context.ts';
import { booleanValue } from './flags/flag-table.ts';

/** What every component that runs alone is given. */
export interface ComponentDeps {
  readonly clock: typeof realClock;
  readonly random: typeof systemRandom;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export function componentDeps({ verbose }: Pick<CliContext, 'verbose'>): ComponentDeps {
  const level = verbose ? 'debug' : 'info';
  const logger = createLogger({ clock: realClock, level, format: 'json', write: (line) => void process.stderr.write(`${line}\n`) });
  return { clock: realClock, random: systemRandom, logger, metrics: new MetricsRegistry() };
}

/** Runs a component until it is told to stop, or fails. */
export async function runUntilStopped(component: Component, name: string, { logger }: ComponentDeps): Promise<void> {
  await component.ready;
  logger.info(`${name} is ready`);
  await component.done;
}

export interface ClientFlags {
  readonly kubeconfig?: string;
}

export function addClientFlags(command: Command): Command {
  return command.option('--kubeconfig <file>', 'how to reach the API server, and as whom (default: $KUBECONFIG)');
}

interface ClientPlace {
  readonly context: CliContext;
  readonly deps: ComponentDeps;
}

export async function clientFrom(options: ClientFlags, userAgent: string, place: ClientPlace): Promise<Client> {
  return new Client(httpsTransport(await connectionFrom(options, place.context), place.deps, { userAgent }));
}

/** Where the API server is and who to be there, by the flags and by what kubectl would take. */
export async function connectionFrom(options: ClientFlags, { env }: CliContext): Promise<ConnectionConfig> {
  const { connection } = await loadConnection({
    ...(options.kubeconfig && { path: options.kubeconfig }),
    ...(env.KUBECONFIG && { env: env.KUBECONFIG }),
    ...(env.HOME && { homeDirectory: env.HOME }),
    processEnv: env,
  });
  return connection;
}

export interface LeaderFlags {
  readonly leaderElect?: string;
}

export function addLeaderFlags(command: Command): Command {
  return command.option('--leader-elect <bool>', 'whether to wait until no other instance leads', 'true');
}

/** Upstream's lease of this name; undefined when nobody is elected. */
export function leaderElectionOf(
  { leaderElect = 'true' }: LeaderFlags,
  lease: string,
  { random }: ComponentDeps,
): LeaderElectionConfig | undefined {
  if (!booleanValue(leaderElect)) return undefined;
  return { lease: { namespace: 'kube-system', name: lease }, identity: `${hostname()}_${random.uuid()}`, releaseOnStop: true };
}
