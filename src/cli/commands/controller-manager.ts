import type { Command } from 'commander';
import { LeaderHealth } from '#client';
import { AccountClients } from '#cluster';
import { type ControllerManagerConfig, DEFAULT_CONTROLLER_OPTIONS, startControllerManager } from '#controllers';
import { serveComponent } from '../component-serving.ts';
import type { CliContext } from '../context.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { addFlags, booleanValue, flagValue, settingsFromOptions } from '../flags/flag-table.ts';
import { SERVING_FLAGS } from '../flags/serving-flags.ts';
import { addLeaderFlags, type LeaderFlags, leaderDefaults, leaderElectionOf } from '../leader-flags.ts';
import {
  addClientFlags,
  type ClientFlags,
  clientFrom,
  componentDeps,
  connectionFrom,
  rateLimitOf,
  runUntilStopped,
} from '../run-component.ts';

type Options = ClientFlags & LeaderFlags & LoggingFlags & { useServiceAccountCredentials: string | true } & Record<string, unknown>;

export function configureControllerManager(command: Command, context: CliContext): void {
  addLoggingFlags(addLeaderFlags(addClientFlags(command))).option(
    '--use-service-account-credentials [bool]',
    'whether each controller has an account and rights of its own',
    'false',
  );
  addFlags(addFlags(command, SERVING_FLAGS), CONTROLLER_MANAGER_FLAGS).action(async (options: Options) => {
    const deps = componentDeps(context, options);
    const ownAccounts = flagValue('use-service-account-credentials', String(options.useServiceAccountCredentials), booleanValue);
    const config = settingsFromOptions<ControllerManagerConfig>(CONTROLLER_MANAGER_FLAGS, options, { initial: {}, context });
    const leaderElection = leaderElectionOf(options, leaderDefaults('kube-controller-manager'), deps.random);
    await using client = await clientFrom(options, 'kube-controller-manager', { context, deps });
    await using accounts = new AccountClients(client, await connectionFrom(options, context), { ...deps, rateLimit: rateLimitOf(options) });
    const clientFor = (controller: string) => (ownAccounts ? accounts.of(controller) : client);
    const settings = { ...config, ...(leaderElection && { leaderElection }) };
    const leaderHealth = new LeaderHealth();
    const configuration = () => shownConfiguration(settings);
    const served = { name: 'kube-controller-manager', defaultPort: 10_257, client, configuration, leaderHealth };
    await using _server = await serveComponent(served, options, { context, deps });
    const manager = startControllerManager(settings, { ...deps, client, clientFor, leaderHealth }, context.signal);
    await runUntilStopped(manager, 'the controller manager', deps);
  });
}

/** Private keys are masked. */
function shownConfiguration({ controllers = ['*'], options = {} }: ControllerManagerConfig): Readonly<Record<string, unknown>> {
  const { rootCa: _ca, serviceAccountPrivateKey: _key, clusterSigning: _signing, ...publicOptions } = options;
  return { 'kubecontrollermanager.config.k8s.io': { controllers, ...DEFAULT_CONTROLLER_OPTIONS, ...publicOptions } };
}
