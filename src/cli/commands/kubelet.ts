import { hostname } from 'node:os';
import type { Command } from 'commander';
import { type KubeletConfig, SimulatedRuntime, startKubelet } from '#kubelet';
import type { CliContext } from '../context.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import { KUBELET_FLAGS } from '../flags/kubelet-flags.ts';
import { addClientFlags, type ClientFlags, clientFrom, componentDeps, runUntilStopped } from '../run-component.ts';

type Options = ClientFlags & { hostnameOverride?: string } & Record<string, unknown>;

export function configureKubelet(command: Command, context: CliContext): void {
  addClientFlags(command).option('--hostname-override <name>', "the node's name (default: the host's)");
  addFlags(command, KUBELET_FLAGS).action(async (options: Options) => {
    const deps = componentDeps(context);
    const config = settingsFromOptions<Partial<KubeletConfig>>(KUBELET_FLAGS, options, { initial: {}, context });
    await using client = await clientFrom(options, 'kubelet', { context, deps });
    const nodeName = (options.hostnameOverride ?? hostname()).toLowerCase();
    const kubelet = startKubelet({ ...config, nodeName }, { ...deps, client, runtime: new SimulatedRuntime({}, deps) }, context.signal);
    await runUntilStopped(kubelet, 'the kubelet', deps);
  });
}
