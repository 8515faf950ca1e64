import type { Command } from 'commander';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import type { CliContext } from '../context.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../flags/controller-manager-flags.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import {
  addClientFlags,
  addLeaderFlags,
  type ClientFlags,
  clientFrom,
  componentDeps,
  type LeaderFlags,
  leaderElectionOf,
  runUntilStopped,
} from '../run-component.ts';

type Options = ClientFlags & LeaderFlags & Record<string, unknown>;

export function configureControllerManager(command: Command, context: CliContext): void {
  addFlags(addLeaderFlags(addClientFlags(command)), CONTROLLER_MANAGER_FLAGS).action(async (options: Options) => {
    const deps = componentDeps(context);
    const config = settingsFromOptions<ControllerManagerConfig>(CONTROLLER_MANAGER_FLAGS, options, { initial: {}, context });
    const leaderElection = leaderElectionOf(options, 'kube-controller-manager', deps);
    const client = await clientFrom(options, 'kube-controller-manager', { context, deps });
    const manager = startControllerManager({ ...config, ...(leaderElection && { leaderElection }) }, { ...deps, client }, context.signal);
    await runUntilStopped(manager, 'the controller manager', deps);
  });
}
