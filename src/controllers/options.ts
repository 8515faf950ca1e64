import type { ClusterSigningOptions } from './certificates/controller.ts';
import { DEFAULT_HORIZONTAL_POD_AUTOSCALER_OPTIONS, type HorizontalPodAutoscalerOptions } from './podautoscaler/options.ts';
import { DEFAULT_RECYCLERS, type RecyclersOptions } from './volume/persistentvolume/recycler-pod.ts';
import { DEFAULT_WORKLOAD_OPTIONS, type WorkloadOptions } from './workload-options.ts';

/** Controller options: upstream's flag names and defaults. Times are milliseconds. */
export interface ControllerOptions extends WorkloadOptions, HorizontalPodAutoscalerOptions {
  readonly concurrentNamespaceSyncs: number;
  readonly concurrentGcSyncs: number;
  readonly concurrentServiceAccountTokenSyncs: number;
  readonly concurrentResourceQuotaSyncs: number;
  readonly concurrentEphemeralVolumeSyncs: number;
  /** The delay between the deletion of a namespace and of its content, so that all API servers observe it. 0 with a single server. */
  readonly namespaceDeletionGracePeriodMs: number;
  readonly resourceQuotaSyncPeriodMs: number;
  readonly enableGarbageCollector: boolean;
  /** How long a legacy token secret must be unused before it is invalidated, and then deleted. */
  readonly legacyServiceAccountTokenCleanUpPeriodMs: number;
  /** How often unbound claims and volumes are synced again. */
  readonly pvClaimBinderSyncPeriodMs: number;
  /** How volumes with the deprecated policy Recycle are emptied. */
  readonly pvRecyclers: RecyclersOptions;
  /** PEM of the CA of the API server, published to pods. Absent: not published. */
  readonly rootCa?: string;
  /** PEM of the key that signs service account token secrets. Absent: none are created. */
  readonly serviceAccountPrivateKey?: string | (() => Promise<string>);
  /** Keys of the certificate signers. Absent: certificate requests are not signed. */
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
  legacyServiceAccountTokenCleanUpPeriodMs: 365 * 24 * 3_600_000,
  pvClaimBinderSyncPeriodMs: 15_000,
  pvRecyclers: DEFAULT_RECYCLERS,
};
