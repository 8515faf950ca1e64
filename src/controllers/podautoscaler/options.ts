/** Options of horizontal pod autoscalers; see `ControllerOptions`. */
export interface HorizontalPodAutoscalerOptions {
  readonly concurrentHorizontalPodAutoscalerSyncs: number;
  /** How often each autoscaler is synced. */
  readonly horizontalPodAutoscalerSyncPeriodMs: number;
  /** The default scale-down stabilization window. */
  readonly horizontalPodAutoscalerDownscaleStabilizationMs: number;
  /** The default tolerance: how far the ratio of metric to target may differ from 1 without scaling. */
  readonly horizontalPodAutoscalerTolerance: number;
  /** How long after a pod's start its CPU usage may be distorted by startup. */
  readonly horizontalPodAutoscalerCpuInitializationPeriodMs: number;
  /** A pod that becomes unready within this time after its start counts as never ready. */
  readonly horizontalPodAutoscalerInitialReadinessDelayMs: number;
}

export const DEFAULT_HORIZONTAL_POD_AUTOSCALER_OPTIONS: HorizontalPodAutoscalerOptions = {
  concurrentHorizontalPodAutoscalerSyncs: 5,
  horizontalPodAutoscalerSyncPeriodMs: 15_000,
  horizontalPodAutoscalerDownscaleStabilizationMs: 300_000,
  horizontalPodAutoscalerTolerance: 0.1,
  horizontalPodAutoscalerCpuInitializationPeriodMs: 300_000,
  horizontalPodAutoscalerInitialReadinessDelayMs: 30_000,
};
