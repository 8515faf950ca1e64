import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type Component, type Logger, runProgram, type TokenBucketConfig } from '#base';
import { type Client, httpsTransport, Client as NetworkClient } from '#client';
import {
  certificateFromFiles,
  certificateFromSigner,
  type DefaultedConfiguration,
  type KubeletConfiguration,
  moveToCgroup,
  type NodeServersDeps,
  type RotatingClient,
  rotatingClient,
  type ServingCertificate,
  selfSignedFiles,
  startNodeServers,
} from '#kubelet';
import type { CliContext } from './context.ts';
import { type ClientFlags, type ComponentDeps, connectionFrom, rateLimitOf } from './run-component.ts';
import { UsageError } from './usage-error.ts';

export interface KubeletIdentity {
  readonly flags: ClientFlags;
  readonly configuration: DefaultedConfiguration;
  /** As it was written. */
  readonly fileConfiguration: KubeletConfiguration;
  readonly nodeName: string;
  readonly certDirectory: string;
}

/** The kubelet's client; with `rotateCertificates` one that renews its certificate. */
export async function openKubeletClient(
  { flags, configuration, fileConfiguration, nodeName, certDirectory }: KubeletIdentity,
  { context, deps }: { readonly context: CliContext; readonly deps: ComponentDeps },
): Promise<RotatingClient> {
  const connection = await connectionFrom(flags, context);
  const rateLimit = rateLimitOf(flags) ?? configuredRate(fileConfiguration);
  const options = { userAgent: 'kubelet', ...(rateLimit && { rateLimit }) };
  if (configuration.rotateCertificates) return rotatingClient({ nodeName, connection, certDirectory, options }, deps);
  const client: Client = new NetworkClient(httpsTransport(connection, deps, options));
  return { client, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

/** `kubeAPIQPS` and `kubeAPIBurst`. Undefined: neither is set, or there is to be no limit. */
function configuredRate({ kubeAPIQPS, kubeAPIBurst }: KubeletConfiguration): TokenBucketConfig | undefined {
  if ((kubeAPIQPS ?? kubeAPIBurst) === undefined || (kubeAPIQPS ?? 0) < 0) return undefined;
  return { perSecond: kubeAPIQPS || 50, burst: kubeAPIBurst || 100 };
}

export interface ServedNode {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly certDirectory: string;
  readonly configuration: DefaultedConfiguration;
}

type ServerDeps = ComponentDeps & Pick<NodeServersDeps, 'client' | 'handle'>;

/** The kubelet's servers, with the configured certificate. */
export function startServersOf(node: ServedNode, deps: ServerDeps): Component {
  const { nodeName, configuration } = node;
  const { clientCAFile } = configuration.authentication.x509 ?? {};
  const certificate: ServingCertificate = {
    async *follow(signal) {
      yield* (await servingCertificate(node, deps)).follow(signal);
    },
  };
  const clientCa = clientCAFile ? readFileText(clientCAFile) : undefined;
  return startNodeServers({ nodeName, configuration, clientCa }, { ...deps, certificate });
}

function readFileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`unable to load client CA file ${file}: ${(error as Error).message}`);
  }
}

async function servingCertificate({ nodeName, nodeIps, certDirectory, configuration }: ServedNode, deps: ServerDeps) {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, serverTLSBootstrap } = configuration;
  const names = { dnsNames: [nodeName], ipAddresses: nodeIps };
  if (certFile && keyFile) return certificateFromFiles({ certFile, keyFile }, deps);
  if (serverTLSBootstrap) return certificateFromSigner({ nodeName, directory: certDirectory, names: () => names }, deps);
  return certificateFromFiles(await selfSignedFiles(certDirectory, { nodeName, ...names }, deps), deps);
}

/** What upstream's kubelet sets without `protectKernelDefaults`. Here they are checked with it, and never changed. */
const KERNEL_FLAGS: ReadonlyMap<string, number> = new Map([
  ['vm/overcommit_memory', 1],
  ['vm/panic_on_oom', 0],
  ['kernel/panic', 10],
  ['kernel/panic_on_oops', 1],
  ['kernel/keys/root_maxkeys', 1_000_000],
  ['kernel/keys/root_maxbytes', 25_000_000],
]);

/** With upstream's messages. */
export async function checkKernelFlags(directory = '/proc/sys'): Promise<void> {
  const problems: string[] = [];
  for (const [flag, expected] of KERNEL_FLAGS) {
    const actual = await readFile(`${directory}/${flag}`, 'utf8').catch((error: unknown) => (error as Error).message);
    if (actual.trim() !== String(expected)) {
      problems.push(`invalid kernel flag: ${flag}, expected value: ${expected}, actual value: ${actual.trim()}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
}

/** The kubelet's preconditions on the machine. */
export async function checkMachine(configuration: DefaultedConfiguration, logger: Logger): Promise<void> {
  const { failSwapOn, oomScoreAdj, protectKernelDefaults } = configuration;
  if (protectKernelDefaults) await checkKernelFlags();
  const [, ...swaps] = (await readFile('/proc/swaps', 'utf8').catch(() => '')).trim().split('\n');
  if (failSwapOn && swaps.length > 0) {
    const list = swaps.map((line) => line.split(/\s/)[0]).join(', ');
    throw new UsageError(`running with swap on is not supported, please disable swap or set --fail-swap-on flag to false (swap: ${list})`);
  }
  await raiseOpenFiles(configuration.maxOpenFiles, logger);
  if (configuration.kubeletCgroups) await moveToCgroup(configuration.kubeletCgroups, process.pid);
  // Only root may lower it.
  await writeFile('/proc/self/oom_score_adj', String(oomScoreAdj)).catch((error: unknown) => {
    logger.warn('the kubelet may not protect itself from being killed for memory', { oomScoreAdj, reason: (error as Error).message });
  });
}

/** `maxOpenFiles`. Node.js cannot change the limit of its own process, util-linux' prlimit can. As upstream, a failure is only logged. */
async function raiseOpenFiles(files: number, logger: Logger): Promise<void> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  if (soft === undefined || Number(soft) === files) return;
  await runProgram('prlimit', ['--pid', String(process.pid), `--nofile=${files}:${files}`]).catch((error: unknown) => {
    logger.warn('the limit of open files could not be set', { maxOpenFiles: files, limit: Number(soft), error });
  });
}
