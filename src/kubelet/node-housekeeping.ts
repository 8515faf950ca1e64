import { type Clock, type Logger, type RepeatOptions, repeat, waitForAbort } from '#base';
import type { EventRecorder } from '#client';
import type { ContainerRuntime } from './cri/runtime.ts';
import { type EvictablePod, EvictionManager } from './eviction/eviction-manager.ts';
import type { NodeMeasurements } from './eviction/measurements.ts';
import { type EvictionConfig, parseThresholds } from './eviction/thresholds.ts';
import { ContainerGc, type LogDirectories, type PodOverview } from './gc/container-gc.ts';
import type { ImageGcConfig } from './gc/image-garbage.ts';
import { ImageGc } from './gc/image-gc.ts';
import { LogRotation, type LogRotationConfig } from './logs/log-rotation.ts';
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts';
import type { PressureState } from './node/node-pressure.ts';
import type { ShutdownConfig } from './shutdown/shutdown-groups.ts';

export interface HousekeepingOptions extends EvictionConfig, ImageGcConfig, LogRotationConfig, ShutdownConfig {
  readonly nodeName: string;
}

export interface HousekeepingDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly pressure: PressureState;
  readonly measurements: NodeMeasurements;
  readonly logs?: LogDirectories | undefined;
  evictable(): readonly EvictablePod[];
  /** Called with the ids of all images on the node. */
  onImages?(ids: ReadonlySet<string>): Promise<void> | undefined;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
  pods(): PodOverview;
}

const CONTAINER_GC_MS = 60_000;
const IMAGE_GC_MS = 300_000;
const LOG_MONITOR_MS = 10_000;
const TRANSITION_MS = 300_000;

/** Runs garbage collection and eviction, so that the node does not run out of memory, disk or pids. */
export async function runHousekeeping(options: HousekeepingOptions, deps: HousekeepingDeps, signal: AbortSignal): Promise<void> {
  const { clock, measurements } = deps;
  if (measurements.started !== undefined) await Promise.race([measurements.started, waitForAbort(signal)]);
  if (signal.aborted) return;
  const { nodeName, evictionPressureTransitionPeriodMs = TRANSITION_MS, evictionMaxPodGracePeriod = 0 } = options;
  const imageDisk = async () => (await measurements.observe()).observations.get('imagefs.available');
  const containers = new ContainerGc(deps);
  const images = new ImageGc(options, { ...deps, nodeName, imageDisk });
  const eviction = new EvictionManager(
    {
      nodeName,
      thresholds: parseThresholds(options),
      transitionPeriodMs: evictionPressureTransitionPeriodMs,
      maxPodGraceSeconds: evictionMaxPodGracePeriod,
    },
    {
      ...deps,
      pods: deps.evictable,
      onEvicted: (signal) => deps.kubeletMetrics?.evicted(signal),
      async reclaimDisk() {
        await containers.collect({ isPressing: true });
        await images.deleteUnused();
      },
    },
  );
  const rotation = deps.logs && new LogRotation(options, { ...deps, directory: deps.logs.pods });
  const collect = (intervalMs: number, work: () => Promise<void>) => repeatQuietly({ clock, intervalMs, signal }, work, deps.logger);
  await Promise.all([
    eviction.run(signal),
    collect(CONTAINER_GC_MS, () => containers.collect()),
    collect(IMAGE_GC_MS, () => images.collect()),
    rotation && collect(options.containerLogMonitorMs ?? LOG_MONITOR_MS, () => rotation.rotateAll()),
  ]);
}

/** Failures are retried at the next interval: the runtime may be down temporarily. */
async function repeatQuietly(options: Omit<RepeatOptions, 'onError'>, work: () => Promise<void>, logger: Logger): Promise<void> {
  await options.clock.sleep(options.intervalMs, options.signal).catch(() => {});
  const onError = (error: unknown) => logger.warn('garbage could not be collected; it will be tried again', { error });
  await repeat({ ...options, onError }, work);
}
