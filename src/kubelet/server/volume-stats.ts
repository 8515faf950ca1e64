import type { core } from '#api';
import { type Clock, MetricsRegistry } from '#base';
import type { VolumeCount, VolumeUsage } from '../volumes/pod-volumes.ts';

export interface VolumeStatsDeps {
  readonly clock: Clock;
  pods(): readonly core.Pod[];
  volumeUsage?(podUid: string): Promise<readonly VolumeUsage[]>;
  volumeCounts?(): readonly VolumeCount[];
}

/** The volume stats of a pod in `/stats/summary`. */
export async function volumeStats(
  { metadata }: core.Pod,
  { volumeUsage, clock }: Omit<VolumeStatsDeps, 'pods'>,
): Promise<readonly object[]> {
  const usages = (await volumeUsage?.(metadata.uid ?? '')) ?? [];
  const time = new Date(clock.now()).toISOString();
  return usages.map(({ name, claim, isEphemeral: _, ...figures }) => ({ time, ...figures, name, ...(claim && { pvcRef: claim }) }));
}

const FIGURES = [
  ['kubelet_volume_stats_capacity_bytes', 'Capacity in bytes of the volume', 'capacityBytes'],
  ['kubelet_volume_stats_available_bytes', 'Number of available bytes in the volume', 'availableBytes'],
  ['kubelet_volume_stats_used_bytes', 'Number of used bytes in the volume', 'usedBytes'],
  ['kubelet_volume_stats_inodes', 'Maximum number of inodes in the volume', 'inodes'],
  ['kubelet_volume_stats_inodes_free', 'Number of free inodes in the volume', 'inodesFree'],
  ['kubelet_volume_stats_inodes_used', 'Number of used inodes in the volume', 'inodesUsed'],
] as const;

/** Volume metrics of `/metrics`: the number of volumes, and the usage of those of claims. */
export async function volumeMetrics(deps: VolumeStatsDeps): Promise<string> {
  return countText(deps.volumeCounts?.() ?? []) + (await claimText(deps));
}

function countText(counts: readonly VolumeCount[]): string {
  const registry = new MetricsRegistry();
  const gauge = registry.gauge({
    name: 'volume_manager_total_volumes',
    help: 'Number of volumes in Volume Manager',
    labels: ['plugin_name', 'state'],
  });
  for (const { plugin: plugin_name, total, mounted } of counts) {
    gauge.with({ plugin_name, state: 'desired_state_of_world' }).set(total);
    gauge.with({ plugin_name, state: 'actual_state_of_world' }).set(mounted);
  }
  return registry.text();
}

async function claimText({ pods, volumeUsage }: VolumeStatsDeps): Promise<string> {
  if (volumeUsage === undefined) return '';
  const claims = new Map<string, VolumeUsage & { readonly claim: NonNullable<VolumeUsage['claim']> }>();
  const usages = await Promise.all(
    pods()
      .filter(mayHaveClaims)
      .map(({ metadata }) => volumeUsage(metadata.uid ?? '')),
  );
  for (const usage of usages.flat()) {
    const { claim } = usage;
    if (claim !== undefined) claims.set(`${claim.namespace}/${claim.name}`, { ...usage, claim });
  }
  if (claims.size === 0) return '';
  const registry = new MetricsRegistry();
  for (const [name, help, figure] of FIGURES) {
    const gauge = registry.gauge({ name, help, labels: ['namespace', 'persistentvolumeclaim'] });
    for (const { claim, ...usage } of claims.values())
      gauge.with({ namespace: claim.namespace, persistentvolumeclaim: claim.name }).set(usage[figure]);
  }
  return registry.text();
}

function mayHaveClaims({ spec }: core.Pod): boolean {
  return spec?.volumes?.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral) === true;
}
