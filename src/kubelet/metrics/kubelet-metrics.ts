import type { core } from '#api';
import { type Clock, MetricsRegistry } from '#base';
import type { ContainerRuntime, ContainerState } from '../cri/runtime.ts';

const START_BUCKETS = [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const RUNTIME_BUCKETS = Array.from({ length: 14 }, (_, index) => 0.005 * 2.5 ** index);
const MIB = 1024 ** 2;
/** Upstream's image size buckets, largest first. */
const IMAGE_SIZES: readonly (readonly [number, string])[] = [
  [100 * 1024 * MIB, 'GT100GB'],
  [50 * 1024 * MIB, '50GB-100GB'],
  [30 * 1024 * MIB, '30GB-50GB'],
  [10 * 1024 * MIB, '10GB-30GB'],
  [5 * 1024 * MIB, '5GB-10GB'],
  [1024 * MIB, '1GB-5GB'],
  [500 * MIB, '500MB-1GB'],
  [100 * MIB, '100MB-500MB'],
  [50 * MIB, '50MB-100MB'],
  [10 * MIB, '10MB-50MB'],
  [0, '0-10MB'],
];

export type ContainerType = 'container' | 'init_container' | 'ephemeral_container';

export interface RuntimeOperation {
  count(): void;
  fail(): void;
  observe(seconds: number): void;
}

/** The kubelet's own metrics, with upstream's names. */
export class KubeletMetrics {
  readonly registry = new MetricsRegistry();
  /** Probe metrics, which upstream serves at `/metrics/probes`. */
  readonly probes = new MetricsRegistry();
  #relistedAtMs: number | undefined;
  /** How long images of pods were pulled that have not started yet, by their uids. */
  readonly #pullMs = new Map<string, number>();

  constructor(nodeName: string) {
    this.registry
      .gauge({ name: 'kubelet_node_name', help: "The node's name. The count is always 1.", labels: ['node'] })
      .with({ node: nodeName })
      .set(1);
    // Alerts divide by these: they must exist from the start.
    this.#startedPods.with({}).inc(0);
    this.#startedPodErrors.with({}).inc(0);
  }

  readonly #startedPods = this.registry.counter({ name: 'kubelet_started_pods_total', help: 'Cumulative number of pods started' });
  readonly #startedPodErrors = this.registry.counter({
    name: 'kubelet_started_pods_errors_total',
    help: 'Cumulative number of errors when starting pods',
  });
  readonly #startedContainers = this.registry.counter({
    name: 'kubelet_started_containers_total',
    help: 'Cumulative number of containers started',
    labels: ['container_type'],
  });
  readonly #terminatedContainers = this.registry.counter({
    name: 'kubelet_terminated_containers_total',
    help: 'Cumulative number of container terminations.',
    labels: ['container_type', 'exit_code', 'reason'],
  });
  readonly #startedContainerErrors = this.registry.counter({
    name: 'kubelet_started_containers_errors_total',
    help: 'Cumulative number of errors when starting containers',
    labels: ['container_type', 'code'],
  });
  readonly #podStart = this.registry
    .histogram({
      name: 'kubelet_pod_start_duration_seconds',
      help: 'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
      buckets: START_BUCKETS,
    })
    .with({});
  readonly #podStartTotal = this.registry
    .histogram({
      name: 'kubelet_pod_start_total_duration_seconds',
      help: 'Duration in seconds to start a pod since creation, including time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started and observed via watch',
      buckets: START_BUCKETS,
    })
    .with({});
  readonly #podStartSli = this.registry
    .histogram({
      name: 'kubelet_pod_start_sli_duration_seconds',
      help: 'Duration in seconds to start a pod, excluding time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started and observed via watch',
      buckets: START_BUCKETS,
    })
    .with({});
  readonly #cgroups = this.registry.histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'Duration in seconds for cgroup manager operations. Broken down by method.',
    labels: ['operation_type'],
  });
  readonly #storage = this.registry.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Storage operation duration',
    labels: ['migrated', 'operation_name', 'status', 'volume_plugin'],
    buckets: STORAGE_BUCKETS,
  });
  readonly #worker = this.registry.histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    labels: ['operation_type'],
  });
  readonly #relist = this.registry
    .histogram({ name: 'kubelet_pleg_relist_duration_seconds', help: 'Duration in seconds for relisting pods in PLEG.' })
    .with({});
  readonly #relistInterval = this.registry
    .histogram({ name: 'kubelet_pleg_relist_interval_seconds', help: 'Interval in seconds between relisting in PLEG.' })
    .with({});
  readonly #relistSeen = this.registry
    .gauge({ name: 'kubelet_pleg_last_seen_seconds', help: 'Timestamp in seconds when PLEG was last seen active.' })
    .with({});
  readonly #runtimeTotal = this.registry.counter({
    name: 'kubelet_runtime_operations_total',
    help: 'Cumulative number of runtime operations by operation type.',
    labels: ['operation_type'],
  });
  readonly #runtimeErrors = this.registry.counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Cumulative number of runtime operation errors by operation type.',
    labels: ['operation_type'],
  });
  readonly #runtimeSeconds = this.registry.histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'Duration in seconds of runtime operations. Broken down by operation type.',
    labels: ['operation_type'],
    buckets: RUNTIME_BUCKETS,
  });
  readonly #sandbox = this.registry.histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
    labels: ['runtime_handler'],
  });
  readonly #sandboxErrors = this.registry.counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
    labels: ['runtime_handler'],
  });
  readonly #pull = this.registry.histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Duration in seconds to pull an image.',
    labels: ['image_size_in_bytes'],
    buckets: PULL_BUCKETS,
  });
  readonly #evictions = this.registry.counter({
    name: 'kubelet_evictions',
    help: 'Cumulative number of pod evictions by eviction signal',
    labels: ['eviction_signal'],
  });
  readonly #preemptions = this.registry.counter({
    name: 'kubelet_preemptions',
    help: 'Cumulative number of pod preemptions by preemption resource',
    labels: ['preemption_signal'],
  });
  readonly #probeTotal = this.probes.counter({
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    labels: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  });
  readonly #probeSeconds = this.probes.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Duration in seconds for a probe response.',
    labels: ['probe_type', 'container', 'pod', 'namespace'],
  });

  runtimeOperation(operation_type: string): RuntimeOperation {
    const total = this.#runtimeTotal.with({ operation_type });
    const seconds = this.#runtimeSeconds.with({ operation_type });
    return {
      count: () => total.inc(),
      fail: () => this.#runtimeErrors.with({ operation_type }).inc(),
      observe: (value) => seconds.observe(value),
    };
  }

  relisted(nowMs: number, durationMs: number): void {
    this.#relist.observe(durationMs / 1000);
    if (this.#relistedAtMs !== undefined) this.#relistInterval.observe((nowMs - this.#relistedAtMs) / 1000);
    this.#relistedAtMs = nowMs;
    this.#relistSeen.set(Math.floor(nowMs / 1000));
  }

  /** Records the creation of a sandbox. */
  sandboxRun(runtime_handler: string, seconds: number, hasFailed: boolean): void {
    this.#sandbox.with({ runtime_handler }).observe(seconds);
    this.#startedPods.with({}).inc();
    if (!hasFailed) return;
    this.#startedPodErrors.with({}).inc();
    this.#sandboxErrors.with({ runtime_handler }).inc();
  }

  /** `code`: the error; undefined on success. */
  containerStarted(container_type: ContainerType, code?: string): void {
    this.#startedContainers.with({ container_type }).inc();
    if (code !== undefined) this.#startedContainerErrors.with({ container_type, code }).inc();
  }

  containerTerminated(container_type: ContainerType, { exitCode, reason = '' }: core.ContainerStateTerminated): void {
    this.#terminatedContainers.with({ container_type, exit_code: String(exitCode), reason }).inc();
  }

  podRuns(sinceSeenMs: number): void {
    this.#podStart.observe(sinceSeenMs / 1000);
  }

  /** The API shows that all containers of a pod have started. */
  podObservedRunning({ metadata }: core.Pod, { sinceCreationMs, initMs }: PodStart): void {
    const { uid = '' } = metadata;
    this.#podStartTotal.observe(sinceCreationMs / 1000);
    this.#podStartSli.observe(Math.max(0, sinceCreationMs - initMs - (this.#pullMs.get(uid) ?? 0)) / 1000);
    this.#pullMs.delete(uid);
  }

  cgroupChanged(operation_type: 'create' | 'update' | 'destroy', durationMs: number): void {
    this.#cgroups.with({ operation_type }).observe(durationMs / 1000);
  }

  /** Starts measuring a volume operation; call the returned function with its outcome. */
  beginStorageOperation(operation_name: StorageOperation, volume_plugin: string, clock: Clock): (hasFailed: boolean) => void {
    const since = clock.monotonic();
    return (hasFailed) => {
      const status = hasFailed ? 'fail-unknown' : 'success';
      this.#storage.with({ migrated: 'false', operation_name, status, volume_plugin }).observe((clock.monotonic() - since) / 1000);
    };
  }

  podSynced(operation_type: 'create' | 'update' | 'sync' | 'terminating' | 'terminated', durationMs: number): void {
    this.#worker.with({ operation_type }).observe(durationMs / 1000);
  }

  imagePulled({ metadata }: core.Pod, sizeBytes: number, durationMs: number): void {
    const { uid = '' } = metadata;
    this.#pullMs.set(uid, (this.#pullMs.get(uid) ?? 0) + durationMs);
    const [, size = '0-10MB'] = IMAGE_SIZES.find(([least]) => sizeBytes > least) ?? [];
    this.#pull.with({ image_size_in_bytes: size }).observe(durationMs / 1000);
  }

  evicted(eviction_signal: string): void {
    this.#evictions.with({ eviction_signal }).inc();
  }

  preempted(preemption_signal: string): void {
    this.#preemptions.with({ preemption_signal }).inc();
  }

  probed({ metadata }: core.Pod, probe: ProbeOutcome): void {
    const of = { pod: metadata.name ?? '', namespace: metadata.namespace ?? '', container: probe.container };
    const probe_type = `${probe.type.charAt(0).toUpperCase()}${probe.type.slice(1)}`;
    this.#probeTotal.with({ ...of, probe_type, result: probe.result, pod_uid: metadata.uid ?? '' }).inc();
    if (probe.result === 'successful') this.#probeSeconds.with({ ...of, probe_type }).observe(probe.durationMs / 1000);
  }

  /** Removes the probe metrics of a deleted pod. */
  forget({ metadata, spec }: core.Pod): void {
    this.#pullMs.delete(metadata.uid ?? '');
    const of = { pod: metadata.name ?? '', namespace: metadata.namespace ?? '' };
    for (const { name: container } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
      for (const probe_type of ['Liveness', 'Readiness', 'Startup']) {
        this.#probeSeconds.remove({ ...of, probe_type, container });
        for (const result of PROBE_RESULTS) this.#probeTotal.remove({ ...of, probe_type, result, container, pod_uid: metadata.uid ?? '' });
      }
    }
  }
}

export interface PodStart {
  readonly sinceCreationMs: number;
  /** What init containers took of it. */
  readonly initMs: number;
}

export type StorageOperation = 'volume_mount' | 'volume_unmount';

const PROBE_RESULTS = ['successful', 'failed', 'unknown'] as const;

export interface ProbeOutcome {
  readonly type: 'liveness' | 'readiness' | 'startup';
  readonly container: string;
  readonly result: (typeof PROBE_RESULTS)[number];
  readonly durationMs: number;
}

const STATES: readonly ContainerState[] = ['created', 'running', 'exited', 'unknown'];

/** Metrics computed on scrape: running pods and containers, and the kubelet's pods. */
export async function countedMetrics(runtime: ContainerRuntime, pods: readonly core.Pod[]): Promise<string> {
  const registry = new MetricsRegistry();
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(), runtime.listContainers()]);
  registry
    .gauge({ name: 'kubelet_running_pods', help: 'Number of pods that have a running pod sandbox' })
    .with({})
    .set(sandboxes.filter(({ state }) => state === 'ready').length);
  const running = registry.gauge({
    name: 'kubelet_running_containers',
    help: 'Number of containers currently running',
    labels: ['container_state'],
  });
  for (const container_state of STATES) {
    const count = containers.filter(({ state }) => state === container_state).length;
    if (count > 0 || container_state === 'running') running.with({ container_state }).set(count);
  }
  addPodCounts(registry, pods);
  return registry.text();
}

function addPodCounts(registry: MetricsRegistry, pods: readonly core.Pod[]): void {
  const isStatic = ({ metadata }: core.Pod) => metadata.annotations?.['kubernetes.io/config.source'] !== undefined && isFile(metadata);
  const isOver = ({ status }: core.Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const desired = registry.gauge({
    name: 'kubelet_desired_pods',
    help: 'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.',
    labels: ['static'],
  });
  const active = registry.gauge({
    name: 'kubelet_active_pods',
    help: 'The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.',
    labels: ['static'],
  });
  for (const label of ['', 'true']) {
    const own = pods.filter((pod) => isStatic(pod) === (label === 'true'));
    desired.with({ static: label }).set(own.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length);
    active.with({ static: label }).set(own.filter((pod) => !isOver(pod)).length);
  }
}

function isFile({ annotations }: core.Pod['metadata']): boolean {
  return annotations?.['kubernetes.io/config.source'] !== 'api';
}
