import { type Clock, type Component, type Logger, type MetricsRegistry, processMetrics, type Random } from '#base';
import type { Client } from '#client';
import { settingsOf } from '../configuration/kubelet-settings.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { StartDriverController } from '../csi/controller/csi-controllers.ts';
import { DEFAULT_EVICTION_HARD } from '../eviction/thresholds.ts';
import { type Kubelet, startKubelet } from '../kubelet.ts';
import { criLogs } from '../logs/cri-logs.ts';
import { instrumentedRuntime } from '../metrics/instrumented-runtime.ts';
import { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { linuxMachine } from '../node/linux-machine.ts';
import type { KubeletConfig } from '../node/node-config.ts';
import { networkProber } from '../prober/network-prober.ts';
import type { KubeletTracing } from '../tracing/kubelet-tracing.ts';
import { DEFAULT_ROOT_DIR, type LinuxPartsConfig, linuxParts } from './linux-parts.ts';

export interface LinuxKubeletConfig extends KubeletConfig, LinuxPartsConfig {}

export interface LinuxKubeletDeps {
  /** With the node's identity. */
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Absent: nothing is traced. */
  readonly tracing?: KubeletTracing | undefined;
  /** Runs CSI controller services on this machine. Absent: drivers need sidecars. */
  readonly startDriverController?: StartDriverController;
}

export type LinuxKubelet = Kubelet & Component;

/** A kubelet that runs pods as containers on this machine. */
export function startLinuxKubelet(config: LinuxKubeletConfig, deps: LinuxKubeletDeps, signal?: AbortSignal): LinuxKubelet {
  const { evictionHard = DEFAULT_EVICTION_HARD, maxParallelImagePulls = 1, nodeStatusUpdateMs = 10_000 } = config;
  const settings = { ...config, evictionHard, maxParallelImagePulls, nodeStatusUpdateMs, ...settingsOf(config.configuration ?? {}) };
  const machine = linuxMachine(settings.rootDir ?? DEFAULT_ROOT_DIR);
  const kubeletMetrics = new KubeletMetrics(settings.nodeName);
  const measured = { ...deps, runtime: instrumentedRuntime(deps.runtime, { ...deps, kubeletMetrics }) };
  processMetrics(deps.metrics, deps.clock);
  const parts = linuxParts(settings, { ...measured, kubeletMetrics });
  const own = { ...measured, kubeletMetrics, machine, prober: networkProber(measured), logs: criLogs(deps), openParts: parts };
  return startKubelet(settings, own, signal);
}
