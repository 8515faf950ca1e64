import type { ClusterSigningOptions } from './certificates/controller.ts';
import { DEFAULT_HORIZONTAL_POD_AUTOSCALER_OPTIONS, type HorizontalPodAutoscalerOptions } from './podautoscaler/options.ts';
import { DEFAULT_WORKLOAD_OPTIONS, type WorkloadOptions } from './workload-options.ts';

/** What can be set about controllers, under the names of upstream's flags, with upstream's defaults. Times are milliseconds. */
export interface ControllerOptions extends WorkloadOptions, HorizontalPodAutoscalerOptions {
  readonly concurrentNamespaceSyncs: number;
  readonly concurrentGcSyncs: number;
  readonly concurrentServiceAccountTokenSyncs: number;
  readonly concurrentResourceQuotaSyncs: number;
  readonly concurrentEphemeralVolumeSyncs: number;
  /** The time between a namespace's deletion and that of its content, in which all servers learn of it. 0 where there is one server. */
  readonly namespaceDeletionGracePeriodMs: number;
  readonly resourceQuotaSyncPeriodMs: number;
  readonly enableGarbageCollector: boolean;
  /** How often claims and volumes that wait for each other are looked at again. */
  readonly pvClaimBinderSyncPeriodMs: number;
  /** PEM of the authority that signed the server's certificate: what pods trust. Absent: it is not published. */
  readonly rootCa?: string;
  /** PEM of the key that signs tokens of service accounts in secrets. Absent: no such tokens are made. */
  readonly serviceAccountPrivateKey?: string | (() => Promise<string>);
  /** Keys that sign certificates for those who ask. Absent: none are signed. */
  readonly clusterSigning?: ClusterSigningOptions;
}

export const DEFAULT_CONTROLLER_OPTIONS: ControllerOptions = {
  ...DEFAULT_WORKLOAD_OPTIONS,
  ...DEFAULT_HORIZONTAL_POD_AUTOSCALER_OPTIONS,
  concurrentNamespaceSyncs: 10,
  concurrentGcSyncs: 20,
  concurrentServiceAccountTokenSyncs: 5,
  concurrentResourceQuotaSyncs: 5,
  concurrentEphemeralVolumeSyncs: 5,
  namespaceDeletionGracePeriodMs: 5_000,
  resourceQuotaSyncPeriodMs: 300_000,
  enableGarbageCollector: true,
  pvClaimBinderSyncPeriodMs: 15_000,
};
