import type { Command } from 'commander';
import { AccountClients } from '#cluster';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import type { CliContext } from '../context.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { addFlags, booleanValue, settingsFromOptions } from '../flags/flag-table.ts';
import {
  addClientFlags,
  addLeaderFlags,
  type ClientFlags,
  clientFrom,
  componentDeps,
  connectionFrom,
  type LeaderFlags,
  leaderElectionOf,
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
    const ownAccounts = booleanValue(options.useServiceAccountCredentials);
    const config = settingsFromOptions<ControllerManagerConfig>(CONTROLLER_MANAGER_FLAGS, options, { initial: {}, context });
    const leaderElection = leaderElectionOf(options, 'kube-controller-manager', deps);
    await using client = await clientFrom(options, 'kube-controller-manager', { context, deps });
    await using accounts = new AccountClients(client, await connectionFrom(options, context), deps);
    const clientFor = (controller: string) => (ownAccounts ? accounts.of(controller) : client);
    const settings = { ...config, ...(leaderElection && { leaderElection }) };
    const manager = startControllerManager(settings, { ...deps, client, clientFor }, context.signal);
    await runUntilStopped(manager, 'the controller manager', deps);
  });
}
