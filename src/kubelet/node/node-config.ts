import type { core } from '#api';
import { Quantity } from '#machinery';

/** What is known of a node before it runs, in full. */
export interface NodeConfig {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly port: number;
  readonly info: Omit<core.NodeSystemInfo, 'containerRuntimeVersion'>;
  readonly providerId: string | undefined;
  readonly unschedulable: boolean;
}

export interface KubeletConfig {
  readonly nodeName: string;
  /** Addresses of the machine, at most one a family. Default: 127.0.0.1. */
  readonly nodeIps?: readonly string[];
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** As `--register-with-taints`. */
  readonly registerWithTaints?: readonly core.Taint[];
  /** As `--register-node`. Default true. */
  readonly registerNode?: boolean;
  /** As `--register-schedulable`. Default true. */
  readonly registerSchedulable?: boolean;
  readonly providerId?: string;
  /** Default: 8 processors, 32Gi of memory, 100Gi of disk, 110 pods. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** As `--kube-reserved`: what of the capacity is not for pods. */
  readonly reserved?: Readonly<Record<string, string>>;
  readonly maxPods?: number;
  /** Where the kubelet's server can be reached, as nodes report it. */
  readonly port?: number;
  readonly info?: Partial<core.NodeSystemInfo>;
  readonly nodeLeaseDurationSeconds?: number;
  /** As `--node-status-report-frequency`. Default 5 min. */
  readonly nodeStatusReportMs?: number;
  /** The node ran until now, elsewhere: it does not start, and events do not say so. Default false. */
  readonly isContinued?: boolean;
  /** What had befallen the machine by then, and lasts until it recovers. Default: nothing. */
  readonly failure?: MachineFailure;
}

export type MachineFailure =
  | { readonly type: 'crashed' }
  /** With the pods that it goes on with, as it knows them. */
  | { readonly type: 'partitioned'; readonly pods: readonly core.Pod[] };

const DEFAULT_CAPACITY: Readonly<Record<string, string>> = {
  cpu: '8',
  'ephemeral-storage': '100Gi',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '32Gi',
};
const DEFAULT_MAX_PODS = 110;
export const KUBELET_PORT = 10250;

const DEFAULT_INFO = {
  bootID: '',
  kernelVersion: '6.1.0',
  osImage: 'Sampan',
  kubeletVersion: 'v1.36.4',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

/** The configuration with its defaults. Throws a TypeError on what makes no sense. */
export function nodeConfig(config: KubeletConfig): NodeConfig {
  const { nodeName, maxPods = DEFAULT_MAX_PODS } = config;
  if (nodeName === '') throw new TypeError('a kubelet needs the name of its node');
  const capacity = { ...DEFAULT_CAPACITY, ...config.capacity, pods: config.capacity?.pods ?? String(maxPods) };
  const info = { ...DEFAULT_INFO, ...config.info };
  return {
    nodeName,
    nodeIps: config.nodeIps ?? ['127.0.0.1'],
    labels: { ...standardLabels(nodeName, info), ...config.nodeLabels },
    annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', ...config.annotations },
    taints: config.registerWithTaints ?? [],
    capacity,
    allocatable: allocatable(capacity, config.reserved ?? {}),
    port: config.port ?? KUBELET_PORT,
    info: { machineID: idOf(nodeName), systemUUID: idOf(nodeName), ...info },
    providerId: config.providerId,
    unschedulable: config.registerSchedulable === false,
  };
}

function standardLabels(nodeName: string, { architecture, operatingSystem }: typeof DEFAULT_INFO): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': operatingSystem,
  };
}

function allocatable(capacity: Readonly<Record<string, string>>, reserved: Readonly<Record<string, string>>): Record<string, string> {
  const left = { ...capacity };
  for (const [resource, amount] of Object.entries(reserved)) {
    const total = capacity[resource];
    if (total === undefined) throw new TypeError(`the node has no ${resource} to reserve`);
    const rest = Quantity.parse(total).sub(Quantity.parse(amount));
    left[resource] = rest.compare(Quantity.zero) < 0 ? '0' : rest.toString();
  }
  return left;
}

/** The same for the same name, as a machine's id is. */
function idOf(nodeName: string): string {
  let hash = 0x811c9dc5;
  let text = '';
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < nodeName.length; i++) hash = Math.imul(hash ^ nodeName.charCodeAt(i) ^ round, 0x01000193);
    text += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return text;
}
