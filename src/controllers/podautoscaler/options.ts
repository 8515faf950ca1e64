/** What can be set about horizontal pod autoscalers, as in `ControllerOptions`. */
export interface HorizontalPodAutoscalerOptions {
  readonly concurrentHorizontalPodAutoscalerSyncs: number;
  /** How often each autoscaler looks at its metrics. */
  readonly horizontalPodAutoscalerSyncPeriodMs: number;
  /** How far back the most cautious answer is looked for before scaling down, where the autoscaler does not say. */
  readonly horizontalPodAutoscalerDownscaleStabilizationMs: number;
  /** How far from 1 the ratio of the metric to its target may be without a change, where the autoscaler does not say. */
  readonly horizontalPodAutoscalerTolerance: number;
  /** How long after its start a pod's use of CPU may be that of starting. */
  readonly horizontalPodAutoscalerCpuInitializationPeriodMs: number;
  /** A pod that became unready within this time after its start is taken to have never been ready. */
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
