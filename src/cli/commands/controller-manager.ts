import type { Command } from 'commander';
import { AccountClients } from '#cluster';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import type { CliContext } from '../context.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { addFlags, booleanValue, flagValue, settingsFromOptions } from '../flags/flag-table.ts';
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

type Options = ClientFlags & LeaderFlags & { useServiceAccountCredentials: string } & Record<string, unknown>;

export function configureControllerManager(command: Command, context: CliContext): void {
  addLeaderFlags(addClientFlags(command)).option(
    '--use-service-account-credentials <bool>',
    'whether each controller has an account and rights of its own',
    'false',
  );
  addFlags(command, CONTROLLER_MANAGER_FLAGS).action(async (options: Options) => {
    const deps = componentDeps(context);
    const ownAccounts = flagValue('use-service-account-credentials', options.useServiceAccountCredentials, booleanValue);
    const config = settingsFromOptions<ControllerManagerConfig>(CONTROLLER_MANAGER_FLAGS, options, { initial: {}, context });
    const leaderElection = leaderElectionOf(options, leaderDefaults('kube-controller-manager'), deps.random);
    await using client = await clientFrom(options, 'kube-controller-manager', { context, deps });
    await using accounts = new AccountClients(client, await connectionFrom(options, context), { ...deps, rateLimit: rateLimitOf(options) });
    const clientFor = (controller: string) => (ownAccounts ? accounts.of(controller) : client);
    const settings = { ...config, ...(leaderElection && { leaderElection }) };
    const manager = startControllerManager(settings, { ...deps, client, clientFor }, context.signal);
    await runUntilStopped(manager, 'the controller manager', deps);
  });
}
