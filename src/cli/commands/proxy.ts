import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { KernelNetwork, type Logger } from '#base';
import {
  applyConntrack,
  listRules,
  PROXY_MODES,
  type ProxyConfig,
  type ProxyConfiguration,
  type ProxyMode,
  readProxyConfiguration,
  removeAllRules,
  startProxy,
} from '#proxy';
import type { CliContext } from '../context.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { addFlags, booleanValue, flagValue, oneOf, settingsFromOptions } from '../flags/flag-table.ts';
import { PROXY_CONFIG_FLAG, PROXY_FLAGS, type ProxyFields } from '../flags/proxy-flags.ts';
import { addClientFlags, type ClientFlags, clientFrom, componentDeps, runUntilStopped } from '../run-component.ts';

type Options = ClientFlags & LoggingFlags & Record<string, unknown>;

export function configureProxy(command: Command, context: CliContext): void {
  addFlags(addFlags(addLoggingFlags(addClientFlags(command)), PROXY_CONFIG_FLAG), PROXY_FLAGS)
    .option('--cleanup [bool]', 'remove the rules of an earlier proxy, of every mode, and end')
    .option('--init-only [bool]', 'set what only root may set, which is how the kernel tracks connections, and end')
    .option('--write-config-to <file>', 'write the configuration, as flags and file have it, and end')
    .action((options: Options) => run(options, context));
  const rules = command.command('rules').description('Print the rules of a node, real or simulated, as computed from the cluster');
  addClientFlags(rules)
    .requiredOption('--node <name>', 'the node')
    .option('--proxy-mode <mode>', `as which rules are written: ${PROXY_MODES.join(', ')}`, 'nftables')
    .option('--cluster-cidr <ranges>', 'the ranges of pods', '10.244.0.0/16')
    .action((options: ClientFlags & { node: string; proxyMode: string; clusterCidr: string }) => printRules(options, context));
}

async function run(options: Options, context: CliContext): Promise<void> {
  const fromFile = settingsFromOptions<ProxyFields>(PROXY_CONFIG_FLAG, options, { initial: {}, context });
  const fields = settingsFromOptions(PROXY_FLAGS, options, { initial: fromFile, context });
  const configuration = readProxyConfiguration(fields);
  const deps = componentDeps(context, { ...loggingFlags(configuration), ...options });
  if (isSet('cleanup', options.cleanup)) return removeAllRules(deps);
  if (typeof options.writeConfigTo === 'string') return writeConfiguration(path.resolve(context.cwd, options.writeConfigTo), fields);
  if (isSet('init-only', options.initOnly)) return applyConntrack(configuration.conntrack!, new KernelNetwork(), deps.logger);
  const { kubeconfig, hostnameOverride, rateLimit } = configuration;
  await using client = await clientFrom({ ...(kubeconfig && { kubeconfig }), ...options }, 'kube-proxy', { context, deps, rateLimit });
  const nodeName = (hostnameOverride || hostname()).toLowerCase();
  const config: ProxyConfig = { ...configuration, ...servedNowhere(options), nodeName };
  setOomScore(configuration.oomScoreAdj, deps.logger);
  const proxy = startProxy(config, { ...deps, client }, context.signal);
  await runUntilStopped(proxy, 'the proxy', deps);
}

function isSet(name: string, option: unknown): boolean {
  return option === true || (typeof option === 'string' && flagValue(name, option, booleanValue));
}

function loggingFlags({ logging: { verbosity, format } }: ProxyConfiguration): LoggingFlags {
  return { ...(verbosity !== undefined && { v: String(verbosity) }), ...(format && { loggingFormat: format }) };
}

/** An empty address is the default in the file, and none as a flag. */
function servedNowhere(options: Options): Partial<ProxyConfig> {
  return {
    ...((options.healthzBindAddress === '' || options.healthzPort === '0') && { healthzBindAddress: '' }),
    ...((options.metricsBindAddress === '' || options.metricsPort === '0') && { metricsBindAddress: '' }),
  };
}

function writeConfiguration(file: string, fields: ProxyFields): void {
  const configuration = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ...fields };
  writeFileSync(file, `${JSON.stringify(configuration, undefined, 2)}\n`);
}

/** Protects the process: services of the whole node depend on it. */
function setOomScore(score: number, logger: Logger): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(score));
  } catch (error) {
    logger.warn('the out-of-memory score could not be set', { score, reason: (error as Error).message });
  }
}

async function printRules(
  options: ClientFlags & { node: string; proxyMode: string; clusterCidr: string },
  context: CliContext,
): Promise<void> {
  const deps = componentDeps(context);
  const mode: ProxyMode = flagValue('proxy-mode', options.proxyMode, (text) => oneOf(text, PROXY_MODES));
  const configuration = flagValue('cluster-cidr', options.clusterCidr, (text) => readProxyConfiguration({ clusterCIDR: text, mode }));
  await using client = await clientFrom(options, 'kube-proxy', { context, deps });
  for (const line of await listRules({ ...configuration, nodeName: options.node }, { ...deps, client })) context.print(line);
}
