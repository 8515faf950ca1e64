import type { core } from '#api';
import type { Client, EventRecorder } from '#client';
import type { NodeMonitoring } from '../cadvisor/node-monitoring.ts';
import type { ContainerStatus, DnsConfig } from '../cri/runtime.ts';
import type { NodeMeasurements } from '../eviction/measurements.ts';
import type { LogDirectories } from '../gc/container-gc.ts';
import type { PullCredential, PullRecords } from '../images/pull-records.ts';
import type { CgroupFacts } from '../pods/config/container-resources.ts';
import type { ServiceSource } from '../pods/config/service-environment.ts';
import type { PodHook } from '../pods/hooks/pod-hook.ts';
import type { PodEvents } from '../pods/pod-events.ts';
import type { StartedContainer } from '../pods/start-container.ts';
import type { ShutdownDeps } from '../shutdown/shutdown-manager.ts';
import type { PodRejection } from '../status/pod-status.ts';
import type { UserNamespaces } from '../userns/user-namespaces.ts';
import type { VolumeCount, VolumeUsage } from '../volumes/pod-volumes.ts';
import type { NodeConfig } from './node-config.ts';

/** What a real machine adds to the pods of its node. Disposing it does not stop containers. */
export interface NodeParts extends AsyncDisposable {
  /** The kubelet's directory; pods have theirs in `pods/UID`. */
  readonly rootDir: string;
  readonly seccompDefault: boolean;
  readonly cgroupFacts: CgroupFacts;
  readonly services: ServiceSource;
  /** The pod hooks, in order. */
  readonly hooks: readonly PodHook[];
  logDirectory(pod: core.Pod): string;
  readonly userNamespaces: UserNamespaces;
  cgroupParent(pod: core.Pod): string | undefined;
  dnsConfig(pod: core.Pod, events: Pick<PodEvents, 'warning'>): Promise<DnsConfig | undefined>;
  /** The credentials for an image's registry, in order of preference. */
  credentials(pod: core.Pod, image: string): Promise<readonly PullCredential[]>;
  /** The credentials with which images were pulled. */
  readonly pullRecords: PullRecords;
  terminationMessage(status: ContainerStatus): Promise<string>;
  started(container: StartedContainer): Promise<void>;
  readonly measurements: NodeMeasurements;
  /** Undefined: the kubelet does not manage pod cgroups. */
  readonly monitoring: NodeMonitoring | undefined;
  readonly logs: LogDirectories;
  /** The usage of a pod's volumes. */
  volumeUsage(podUid: string): Promise<readonly VolumeUsage[]>;
  volumeCounts(): readonly VolumeCount[];
  /** The health of the devices that a container was given. */
  deviceHealth(pod: core.Pod, container: core.Container): readonly core.ResourceStatus[];
  /** Calls the listener with pods whose devices' health may have changed. */
  followDeviceHealth(listener: (podUids: readonly string[]) => void): void;
  readonly resources: PartResources;
  /** The source of shutdown notifications. */
  readonly shutdown: Pick<ShutdownDeps, 'open' | 'inhibit'>;
}

/** Exclusive resources of containers. */
export interface PartResources {
  /** Allocates the pod's resources, or returns the rejection. */
  admit(pod: core.Pod): Promise<PodRejection | undefined>;
  /** Why the exclusive resources of an admitted pod cannot be changed, if so. */
  resizeProblem(desired: core.Pod, allocated: core.Pod): PodRejection | undefined;
  /** The extended resources of device plugins. */
  readonly devices: { readonly nodeResources: ExtendedResources };
  onChange(listener: () => void): Disposable;
}

export interface ExtendedResources {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

export interface NodePartsContext {
  readonly config: NodeConfig;
  readonly memoryBytes: number;
  /** With the node's identity. */
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly signal: AbortSignal;
}

export type OpenNodeParts = (context: NodePartsContext) => Promise<NodeParts>;
