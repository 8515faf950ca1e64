import { MetricsRegistry } from '#base';
import { cadvisorText } from '../cadvisor/cadvisor-text.ts';
import { runtimeSamples } from '../cadvisor/runtime-samples.ts';
import type { ContainerStats, SandboxStats } from '../cri/runtime.ts';
import { containerName, type PodUsage, podUsages, type StatsDeps, startTimeOf } from './stats-summary.ts';

const NANO = 1e9;

/** The body of `/metrics/resource`, used by the metrics API. */
export async function resourceMetrics(deps: StatsDeps): Promise<string> {
  const registry = new MetricsRegistry();
  const isFailed = await addAll(registry, deps).then(
    () => false,
    () => true,
  );
  for (const name of ['resource_scrape_error', 'scrape_error']) {
    const help = '1 if there was an error while getting container metrics, 0 otherwise';
    registry
      .gauge({ name, help })
      .with({})
      .set(isFailed ? 1 : 0);
  }
  return registry.text();
}

async function addAll(registry: MetricsRegistry, deps: StatsDeps): Promise<void> {
  const usages = await podUsages(deps);
  for (const usage of usages) {
    addContainers(registry, usage);
    addPod(registry, usage);
  }
  const machine = await deps.monitoring?.()?.usage();
  const total = (part: (stats: SandboxStats) => number | undefined) => usages.reduce((sum, { stats }) => sum + (part(stats) ?? 0), 0);
  registry
    .counter({ name: 'node_cpu_usage_seconds_total', help: 'Cumulative cpu time consumed by the node in core-seconds' })
    .with({})
    .inc((machine?.cpuNs ?? total(({ cpu }) => cpu?.usageCoreNanoSeconds)) / NANO);
  registry
    .gauge({ name: 'node_memory_working_set_bytes', help: 'Current working set of the node in bytes' })
    .with({})
    .set(machine?.memory.workingSetBytes ?? total(({ memory }) => memory?.workingSetBytes));
  registry
    .gauge({ name: 'node_swap_usage_bytes', help: 'Current swap usage of the node in bytes. Reported only on non-windows systems' })
    .with({})
    .set(machine?.memory.swapBytes ?? 0);
}

const CONTAINER_LABELS = ['container', 'namespace', 'pod'] as const;

function addContainers(registry: MetricsRegistry, { pod, stats }: PodUsage): void {
  const labels = CONTAINER_LABELS;
  for (const container of stats.containers) {
    const of = { container: containerName(container), ...podLabels({ pod, stats }) };
    registry
      .counter({
        name: 'container_cpu_usage_seconds_total',
        help: 'Cumulative cpu time consumed by the container in core-seconds',
        labels,
      })
      .with(of)
      .inc(cpuSeconds(container));
    registry
      .gauge({ name: 'container_memory_working_set_bytes', help: 'Current working set of the container in bytes', labels })
      .with(of)
      .set(container.memory?.workingSetBytes ?? 0);
    const { swapUsageBytes, swapAvailableBytes } = container.swap ?? {};
    if (swapUsageBytes !== undefined)
      registry
        .gauge({
          name: 'container_swap_usage_bytes',
          help: 'Current amount of the container swap usage in bytes. Reported only on non-windows systems',
          labels,
        })
        .with(of)
        .set(swapUsageBytes);
    if (swapUsageBytes !== undefined && swapAvailableBytes !== undefined)
      registry
        .gauge({
          name: 'container_swap_limit_bytes',
          help: 'Current amount of the container swap limit in bytes. Reported only on non-windows systems',
          labels,
        })
        .with(of)
        .set(swapUsageBytes + swapAvailableBytes);
    const started = startTimeOf(pod, of.container);
    if (started !== null)
      registry
        .gauge({ name: 'container_start_time_seconds', help: 'Start time of the container since unix epoch in seconds', labels })
        .with(of)
        .set(Date.parse(started) / 1000);
  }
}

function addPod(registry: MetricsRegistry, usage: PodUsage): void {
  const labels = ['namespace', 'pod'] as const;
  const of = podLabels(usage);
  registry
    .counter({ name: 'pod_cpu_usage_seconds_total', help: 'Cumulative cpu time consumed by the pod in core-seconds', labels })
    .with(of)
    .inc(cpuSeconds(usage.stats));
  registry
    .gauge({ name: 'pod_memory_working_set_bytes', help: 'Current working set of the pod in bytes', labels })
    .with(of)
    .set(usage.stats.memory?.workingSetBytes ?? 0);
  const swap = usage.stats.containers.flatMap(({ swap: own }) => own?.swapUsageBytes ?? []);
  if (swap.length > 0)
    registry
      .gauge({
        name: 'pod_swap_usage_bytes',
        help: 'Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
        labels,
      })
      .with(of)
      .set(swap.reduce((sum, bytes) => sum + bytes, 0));
}

function podLabels({ pod }: PodUsage): { readonly namespace: string; readonly pod: string } {
  return { namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name ?? '' };
}

function cpuSeconds({ cpu }: Pick<SandboxStats | ContainerStats, 'cpu'>): number {
  return (cpu?.usageCoreNanoSeconds ?? 0) / NANO;
}

/** The body of `/metrics/cadvisor`: from cgroups on a real machine, else from the runtime's stats. */
export async function containerMetrics(deps: StatsDeps): Promise<string> {
  const monitoring = deps.monitoring?.();
  if (monitoring === undefined) return cadvisorText(undefined, runtimeSamples(await podUsages(deps), deps.clock));
  return cadvisorText(await monitoring.machine(), await monitoring.samples(deps.pods()));
}
