import type { Clock } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { KubeletTracing } from '../tracing/kubelet-tracing.ts';
import type { KubeletMetrics } from './kubelet-metrics.ts';

/** Upstream's operation names by method. */
const OPERATIONS: ReadonlyMap<string | symbol, string> = new Map<keyof ContainerRuntime, string>([
  ['version', 'version'],
  ['status', 'status'],
  ['runtimeConfig', 'runtime_config'],
  ['updateRuntimeConfig', 'update_runtime_config'],
  ['runPodSandbox', 'run_podsandbox'],
  ['stopPodSandbox', 'stop_podsandbox'],
  ['removePodSandbox', 'remove_podsandbox'],
  ['podSandboxStatus', 'podsandbox_status'],
  ['listPodSandbox', 'list_podsandbox'],
  ['updatePodSandboxResources', 'update_podsandbox_resources'],
  ['createContainer', 'create_container'],
  ['startContainer', 'start_container'],
  ['stopContainer', 'stop_container'],
  ['removeContainer', 'remove_container'],
  ['listContainers', 'list_containers'],
  ['containerStatus', 'container_status'],
  ['updateContainerResources', 'update_container'],
  ['reopenContainerLog', 'reopen_container_log'],
  ['execSync', 'exec_sync'],
  ['exec', 'exec'],
  ['attach', 'attach'],
  ['portForward', 'port_forward'],
  ['containerStats', 'container_stats'],
  ['listContainerStats', 'list_container_stats'],
  ['podSandboxStats', 'podsandbox_stats'],
  ['listPodSandboxStats', 'list_podsandbox_stats'],
  ['listMetricDescriptors', 'list_metric_descriptors'],
  ['listPodSandboxMetrics', 'list_podsandbox_metrics'],
  ['checkpointContainer', 'checkpoint_container'],
  ['listImages', 'list_images'],
  ['imageStatus', 'image_status'],
  ['pullImage', 'pull_image'],
  ['removeImage', 'remove_image'],
  ['imageFsInfo', 'image_fs_info'],
]);

type Call = (...args: unknown[]) => Promise<unknown>;

export interface RuntimeObservers {
  readonly clock: Clock;
  readonly kubeletMetrics: KubeletMetrics;
  /** Absent: nothing is traced. */
  readonly tracing?: KubeletTracing | undefined;
}

/** The runtime with metrics, and traces, of its calls. */
export function instrumentedRuntime(runtime: ContainerRuntime, { kubeletMetrics, clock, tracing }: RuntimeObservers): ContainerRuntime {
  const calls = new Map<string | symbol, Call>();
  const measured = (operation: string, name: string, call: Call): Call => {
    const series = kubeletMetrics.runtimeOperation(operation);
    return async (...args) => {
      const since = clock.monotonic();
      series.count();
      try {
        return await (tracing?.runtimeCall(name, () => call.apply(runtime, args)) ?? call.apply(runtime, args));
      } catch (error) {
        series.fail();
        throw error;
      } finally {
        series.observe((clock.monotonic() - since) / 1000);
      }
    };
  };
  return new Proxy(runtime, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const operation = OPERATIONS.get(name);
      const earlier = calls.get(name);
      if (earlier !== undefined) return earlier;
      const call = operation === undefined ? (value.bind(target) as Call) : measured(operation, String(name), value as Call);
      calls.set(name, call);
      return call;
    },
  });
}
