import path from 'node:path';
import type { Command } from 'commander';
import { type Component, createLogger, type Logger, MetricsRegistry, realClock, systemRandom, type TokenBucketConfig } from '#base';
import { Client, type ConnectionConfig, httpsTransport, loadConnection } from '#client';
import type { CliContext } from './context.ts';
import { type LoggingFlags, loggerOptionsOf } from './flags/common-flags.ts';
import { flagValue, numberValue } from './flags/flag-table.ts';
import { surviveFaults } from './survive-faults.ts';
import { UsageError } from './usage-error.ts';

/** Dependencies of standalone components. */
export interface ComponentDeps {
  readonly clock: typeof realClock;
  readonly random: typeof systemRandom;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export function componentDeps({ verbose }: Pick<CliContext, 'verbose'>, flags: LoggingFlags = {}): ComponentDeps {
  const logger = createLogger({
    clock: realClock,
    ...loggerOptionsOf(flags, verbose),
    write: (line) => void process.stderr.write(`${line}\n`),
  });
  return { clock: realClock, random: systemRandom, logger, metrics: new MetricsRegistry() };
}

/** Runs a component until it is stopped or fails. */
export async function runUntilStopped(component: Component, name: string, deps: ComponentDeps): Promise<void> {
  using _faults = surviveFaults(process, deps);
  await component.ready;
  deps.logger.info(`${name} is ready`);
  await component.done;
}

export interface ClientFlags {
  readonly kubeconfig?: string;
  readonly kubeApiQps?: string;
  readonly kubeApiBurst?: string;
}

export function addClientFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the API server, and as whom (default: $KUBECONFIG)')
    .option('--kube-api-qps <rate>', 'requests a second to the API server (default: as many as it takes)')
    .option(
      '--kube-api-burst <count>',
      'how many requests may go at once after a quiet time (default: twice --kube-api-qps; without that there is no limit)',
    );
}

interface ClientPlace {
  readonly context: CliContext;
  readonly deps: ComponentDeps;
  readonly rateLimit?: TokenBucketConfig | undefined;
}

export async function clientFrom(options: ClientFlags, userAgent: string, place: ClientPlace): Promise<Client> {
  const rateLimit = rateLimitOf(options) ?? place.rateLimit;
  const connection = await connectionFrom(options, place.context);
  return new Client(httpsTransport(connection, place.deps, { userAgent, ...(rateLimit && { rateLimit }) }));
}

/** Undefined when the flags set no limit. */
export function rateLimitOf({ kubeApiQps, kubeApiBurst }: ClientFlags): TokenBucketConfig | undefined {
  if (kubeApiQps === undefined) return undefined;
  const perSecond = flagValue('kube-api-qps', kubeApiQps, numberValue);
  const burst = kubeApiBurst === undefined ? Math.max(1, Math.ceil(perSecond * 2)) : flagValue('kube-api-burst', kubeApiBurst, numberValue);
  if (perSecond === 0 || burst < 1) throw new UsageError('a rate of requests must be above 0', 'leave --kube-api-qps out for no limit');
  return { perSecond, burst };
}

/** The API server connection, from flags and kubeconfig. */
export async function connectionFrom({ kubeconfig }: ClientFlags, { env, cwd }: CliContext): Promise<ConnectionConfig> {
  const place = kubeconfig === undefined ? {} : { path: path.resolve(cwd, kubeconfig) };
  try {
    const usual = { ...(env.KUBECONFIG && { env: env.KUBECONFIG }), ...(env.HOME && { homeDirectory: env.HOME }) };
    const { connection } = await loadConnection({ ...place, ...usual, processEnv: env });
    return connection;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem =
      kubeconfig === undefined ? 'the API server cannot be found by the kubeconfig' : `cannot use the kubeconfig ${kubeconfig}`;
    throw new UsageError(`${problem} (${code ?? message})`, 'say how to reach the API server, as --kubeconfig FILE');
  }
}
