import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { core } from '#api';
import { type Component, createLogger, realClock, silentLogger, systemRandom } from '#base';
import type { Client } from '#client';
import { type NetworkAgentConfig, startNetworkAgent } from '#network';
import type { Lab, Namespace } from './machines.ts';

export interface AddOptions {
  readonly netns?: string;
  readonly runtimeConfig?: object;
  readonly args?: Readonly<Record<string, string>>;
  readonly cniVersion?: string;
}

export interface CniResponse {
  readonly exitCode: number;
  readonly result: Record<string, unknown> & { ips?: { address: string }[]; code?: number };
}

/** A machine with a network agent. Its pods are set up like a container runtime does it: by running the plugin. */
export class NodeMachine implements AsyncDisposable {
  agent: Component | undefined;
  readonly config: NetworkAgentConfig;
  #pods = 0;

  constructor(
    readonly name: string,
    readonly machine: Namespace,
    private readonly place: { readonly lab: Lab; readonly client: Client },
    config: Partial<NetworkAgentConfig> = {},
  ) {
    const root = path.join(place.lab.directory, name);
    mkdirSync(root, { recursive: true });
    this.config = {
      nodeName: name,
      stateDirectory: root,
      binDirectory: path.join(root, 'bin'),
      configDirectory: path.join(root, 'net.d'),
      ...config,
    };
  }

  /** The Node object as the kubelet and the node IPAM controller write it. */
  async register(podCidrs: readonly string[], addresses: readonly string[], labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const nodes = this.place.client.of(core.Node);
    await nodes.create({ metadata: { name: this.name, labels }, spec: { podCIDR: podCidrs[0]!, podCIDRs: [...podCidrs] } });
    const status = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) };
    await nodes.patch({ name: this.name }, { status }, { subresource: 'status' });
  }

  async start(): Promise<void> {
    const logger = process.env.VERBOSE ? createLogger({ clock: realClock, write: (line) => console.error(line) }) : silentLogger;
    const deps = { client: this.place.client, clock: realClock, random: systemRandom, logger, kernel: this.machine.kernel };
    const gateway = new Promise<string>((resolve) => {
      this.agent = startNetworkAgent(this.config, { ...deps, onGateway: resolve });
    });
    await this.agent?.ready;
    await gateway;
  }

  async stop(): Promise<void> {
    await this.agent?.[Symbol.asyncDispose]();
    this.agent = undefined;
  }

  async cni(command: string, containerId: string, options: AddOptions = {}): Promise<CniResponse> {
    const { netns = '', runtimeConfig, args = {}, cniVersion = '1.0.0' } = options;
    const config = { cniVersion, name: 'sampan', type: 'sampan-cni', ...(runtimeConfig && { runtimeConfig }) };
    const environment = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: containerId,
      CNI_NETNS: netns,
      CNI_IFNAME: 'eth0',
      CNI_PATH: this.config.binDirectory,
      CNI_ARGS: Object.entries(args)
        .map(([key, value]) => `${key}=${value}`)
        .join(';'),
    };
    return runPlugin(path.join(this.config.binDirectory, 'sampan-cni'), environment, JSON.stringify(config));
  }

  /** A pod's network namespace with its interface. */
  async pod(name: string, options: Omit<AddOptions, 'netns'> = {}): Promise<{ pod: Namespace; addresses: string[]; id: string }> {
    const pod = await this.place.lab.namespace(name);
    const id = `${this.name}-${name}-${this.#pods++}`;
    const args = { K8S_POD_NAMESPACE: 'default', K8S_POD_NAME: name, ...options.args };
    const { exitCode, result } = await this.cni('ADD', id, { ...options, args, netns: pod.path });
    if (exitCode !== 0) throw new Error(`ADD failed: ${JSON.stringify(result)}`);
    return { pod, id, addresses: (result.ips ?? []).map(({ address }) => address.split('/')[0]!) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Runs the plugin like a container runtime. */
export function runPlugin(file: string, env: Readonly<Record<string, string>>, input: string): Promise<CniResponse> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ exitCode: code ?? -1, result: output === '' ? {} : JSON.parse(output) }));
    child.stdin.end(input);
  });
}
