import type { Command } from 'commander';
import { type DnsServerConfig, nameServersOf, startDns } from '#dns';
import type { CliContext } from '../context.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { DNS_FLAGS } from '../flags/dns-flags.ts';
import { addFlags, fileText, settingsFromOptions } from '../flags/flag-table.ts';
import { addClientFlags, type ClientFlags, clientFrom, componentDeps, runUntilStopped } from '../run-component.ts';

type Options = ClientFlags & LoggingFlags & Record<string, unknown>;

const RESOLV_CONF = '/etc/resolv.conf';

export function configureDns(command: Command, context: CliContext): void {
  addFlags(addLoggingFlags(addClientFlags(command)), DNS_FLAGS).action((options: Options) => run(options, context));
}

async function run(options: Options, context: CliContext): Promise<void> {
  const deps = componentDeps(context, options);
  const initial: DnsServerConfig = {
    listen: ['0.0.0.0'],
    port: 53,
    healthBindAddress: '0.0.0.0:8080',
    readyBindAddress: '0.0.0.0:8181',
    metricsBindAddress: '0.0.0.0:9153',
  };
  const settings = settingsFromOptions<DnsServerConfig>(DNS_FLAGS, options, { initial, context });
  const config = settings.upstream === undefined ? { ...settings, upstream: serversOfMachine(context) } : settings;
  await using client = await clientFrom(options, 'dns', { context, deps });
  await runUntilStopped(startDns(config, { ...deps, client }, context.signal), 'cluster DNS', deps);
}

/** Empty when the machine has no resolv.conf: only cluster names are resolved. */
function serversOfMachine(context: CliContext): readonly string[] {
  try {
    return nameServersOf(fileText(RESOLV_CONF, context));
  } catch {
    return [];
  }
}
