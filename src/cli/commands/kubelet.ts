import { hostname } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { type Component, type Logger, unixSocketPath } from '#base';
import { machineAddresses } from '#cluster';
import {
  bootstrapClient,
  type DefaultedConfiguration,
  GrpcRuntime,
  type Kubelet,
  type KubeletConfiguration,
  type LinuxKubeletConfig,
  openKubeletTracing,
  readProviderConfig,
  SimulatedRuntime,
  startLinuxKubelet,
  startSimulatedKubelet,
  streamingUrlClient,
  withDefaults,
} from '#kubelet';
import { parseDurationMs } from '#machinery';
import { explicitFlags } from '../component-serving.ts';
import type { CliContext } from '../context.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import { KUBELET_FLAGS } from '../flags/kubelet-flags.ts';
import { type ConfigurationFlags, checkConfiguration, configurationFrom, loggingOfConfiguration } from '../kubelet-configuration.ts';
import { checkMachine, openKubeletClient, startServersOf } from '../kubelet-process.ts';
import { addClientFlags, type ClientFlags, type ComponentDeps, componentDeps, runUntilStopped } from '../run-component.ts';
import { UsageError } from '../usage-error.ts';

interface RuntimeOptions {
  readonly containerRuntimeEndpoint?: string;
  readonly imageServiceEndpoint?: string;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDir?: string;
}

interface IdentityOptions {
  readonly hostnameOverride?: string;
  readonly bootstrapKubeconfig?: string;
  readonly certDir?: string;
}

type Options = ClientFlags & LoggingFlags & ConfigurationFlags & RuntimeOptions & IdentityOptions & Record<string, unknown>;

export function configureKubelet(command: Command, context: CliContext): void {
  addLoggingFlags(addClientFlags(command))
    .option('--config <file>', 'a KubeletConfiguration; flags win over it')
    .option('--config-dir <directory>', 'KubeletConfigurations in files that end in .conf, laid over --config in the order of their names')
    .option('--bootstrap-kubeconfig <file>', 'who to be until there is a client certificate; --kubeconfig is written then')
    .option('--cert-dir <directory>', 'where certificates are kept (default: pki in --root-dir)')
    .option('--hostname-override <name>', "the node's name (default: the host's)")
    .option('--container-runtime-endpoint <endpoint>', 'unix:///path of the container runtime (default: containers are simulated)')
    .option('--image-service-endpoint <endpoint>', "unix:///path of the image service (default: the runtime's)")
    .option('--image-credential-provider-config <file>', 'which programs know credentials of which registries')
    .option('--image-credential-provider-bin-dir <directory>', 'where those programs are');
  addFlags(command, KUBELET_FLAGS).action((options: Options) => run(options, context));
}

async function run(options: Options, context: CliContext): Promise<void> {
  const fromFile = configurationFrom(options, context);
  const deps = componentDeps(context, { ...loggingOfConfiguration(fromFile.configuration), ...options });
  for (const warning of fromFile.warnings) deps.logger.warn(warning);
  const settings = settingsOf(options, { fromFile: fromFile.configuration, context, logger: deps.logger });
  const configuration = withDefaults(settings.configuration ?? {});
  const { containerRuntimeEndpoint: endpoint = '' } = settings.configuration ?? {};
  const nodeName = (options.hostnameOverride || hostname()).toLowerCase();
  const certDirectory = path.resolve(context.cwd, options.certDir ?? `${settings.rootDir ?? '/var/lib/kubelet'}/pki`);
  if (options.bootstrapKubeconfig !== undefined) {
    if (options.kubeconfig === undefined) throw new UsageError('--bootstrap-kubeconfig requires --kubeconfig, the file to write');
    const [kubeconfig, bootstrapKubeconfig] = [options.kubeconfig, options.bootstrapKubeconfig].map((file) =>
      path.resolve(context.cwd, file),
    );
    await bootstrapClient(
      { nodeName, certDirectory, kubeconfig: kubeconfig!, bootstrapKubeconfig: bootstrapKubeconfig! },
      deps,
      context.signal,
    );
  }
  await using opened = await openKubeletClient(
    { flags: options, configuration, fileConfiguration: settings.configuration ?? {}, nodeName, certDirectory },
    { context, deps },
  );
  const { client } = opened;
  await using tracing = openKubeletTracing(configuration.tracing, nodeName, deps);
  const nodeIps = settings.nodeIps ?? (endpoint === '' ? ['127.0.0.1'] : machineAddresses());
  const config = { ...settings, ...credentialProviders(options, context), nodeName, nodeIps, flags: explicitFlags(options) };
  const runWith = async (kubelet: Kubelet) => {
    const own = { nodeName, nodeIps, certDirectory, configuration };
    await using servers = startServersOf(own, { ...deps, client, handle: (call) => kubelet.handle(call) });
    await runTogether(kubelet, servers, deps);
  };
  if (endpoint === '') {
    await runWith(startSimulatedKubelet(config, { ...deps, client, tracing, runtime: new SimulatedRuntime({}, deps) }, context.signal));
    return;
  }
  await checkMachine(configuration, deps.logger);
  using runtime = runtimeAt(configuration, endpoint, deps);
  await runWith(startLinuxKubelet(config, { ...deps, client, tracing, runtime }, context.signal));
}

/** Fails when one of them fails. */
async function runTogether(kubelet: Kubelet, servers: Component, deps: ComponentDeps): Promise<void> {
  await using _kubelet = kubelet;
  await servers.ready;
  await Promise.race([runUntilStopped(kubelet, 'the kubelet', deps), servers.done]);
}

function runtimeAt(
  { imageServiceEndpoint, runtimeRequestTimeout }: DefaultedConfiguration,
  endpoint: string,
  deps: ComponentDeps,
): GrpcRuntime {
  const options = {
    ...{ endpoint, requestTimeoutMs: parseDurationMs(runtimeRequestTimeout) },
    ...(imageServiceEndpoint && { imageEndpoint: imageServiceEndpoint }),
  };
  return new GrpcRuntime(options, { ...deps, streaming: streamingUrlClient(deps) });
}

interface SettingsOrigin {
  readonly fromFile: KubeletConfiguration;
  readonly context: CliContext;
  readonly logger: Logger;
}

/** The configuration file and its drop-ins, overridden by flags. */
function settingsOf(options: Options, { fromFile, context, logger }: SettingsOrigin): Partial<LinuxKubeletConfig> {
  const initial = { configuration: { ...fromFile, ...endpointsOf(options) } };
  const settings = settingsFromOptions<Partial<LinuxKubeletConfig>>(KUBELET_FLAGS, options, { initial, context });
  checkEndpoints(settings.configuration ?? {});
  checkConfiguration(settings.configuration ?? {}, logger);
  return settings;
}

function endpointsOf({ containerRuntimeEndpoint, imageServiceEndpoint }: RuntimeOptions): KubeletConfiguration {
  return { ...(containerRuntimeEndpoint && { containerRuntimeEndpoint }), ...(imageServiceEndpoint && { imageServiceEndpoint }) };
}

function checkEndpoints({ containerRuntimeEndpoint, imageServiceEndpoint }: KubeletConfiguration): void {
  for (const [flag, endpoint] of [
    ['--container-runtime-endpoint', containerRuntimeEndpoint],
    ['--image-service-endpoint', imageServiceEndpoint],
  ] as const) {
    if (endpoint !== undefined && unixSocketPath(endpoint) === undefined)
      throw new UsageError(`${flag} ${endpoint} is no endpoint`, 'for example unix:///run/containerd/containerd.sock');
  }
  if (imageServiceEndpoint !== undefined && containerRuntimeEndpoint === undefined)
    throw new UsageError('--image-service-endpoint requires --container-runtime-endpoint');
}

function credentialProviders(options: RuntimeOptions, context: CliContext): Pick<LinuxKubeletConfig, 'credentialProviders'> {
  const { imageCredentialProviderConfig: file, imageCredentialProviderBinDir: directory } = options;
  if (file === undefined && directory === undefined) return {};
  if (file === undefined || directory === undefined)
    throw new UsageError('--image-credential-provider-config and --image-credential-provider-bin-dir go together');
  try {
    const specs = readProviderConfig(path.resolve(context.cwd, file));
    return { credentialProviders: { specs, binDirectory: path.resolve(context.cwd, directory), environment: context.env } };
  } catch (cause) {
    throw new Error(`cannot use the credential providers of ${file}`, { cause });
  }
}
