import {
  bool,
  core,
  double,
  duration,
  field,
  type Infer,
  int32,
  int64,
  intOrString,
  listOf,
  mapOf,
  message,
  object,
  pointer,
  quantity,
  string,
} from '#api';

export const KUBELET_CONFIGURATION_VERSION = 'kubelet.config.k8s.io/v1beta1';

const text = field(0, string);
const flag = pointer(0, bool);
const count = pointer(0, int32);
const span = field(0, duration);
const texts = field(0, listOf(string));
const pairs = field(0, mapOf(string));
/** No pairs mean none, not the default ones. */
const explicitPairs = pointer(0, mapOf(string));

const Authentication = object('v1beta1.KubeletAuthentication', '', {
  x509: field(0, object('v1beta1.KubeletX509Authentication', '', { clientCAFile: text })),
  webhook: field(0, object('v1beta1.KubeletWebhookAuthentication', '', { enabled: flag, cacheTTL: span })),
  anonymous: field(0, object('v1beta1.KubeletAnonymousAuthentication', '', { enabled: flag })),
});

const Authorization = object('v1beta1.KubeletAuthorization', '', {
  mode: text,
  webhook: field(0, object('v1beta1.KubeletWebhookAuthorization', '', { cacheAuthorizedTTL: span, cacheUnauthorizedTTL: span })),
});

const PriorityPeriod = object('v1beta1.ShutdownGracePeriodByPodPriority', '', {
  priority: pointer(0, int32),
  shutdownGracePeriodSeconds: pointer(0, int64),
});

const MemoryReservation = object('v1beta1.MemoryReservation', '', { numaNode: pointer(0, int32), limits: field(0, mapOf(quantity)) });

const outputRouting = { splitStream: flag, infoBufferSize: field(0, quantity) };

const Logging = object('v1.LoggingConfiguration', '', {
  format: text,
  flushFrequency: pointer(0, intOrString),
  verbosity: pointer(0, int64),
  vmodule: field(0, listOf(object('v1.VModuleItem', '', { filePattern: text, verbosity: pointer(0, int64) }))),
  options: field(
    0,
    object('v1.FormatOptions', '', {
      text: field(0, object('v1.TextOptions', '', outputRouting)),
      json: field(0, object('v1.JSONOptions', '', outputRouting)),
    }),
  ),
});

/** Upstream's KubeletConfiguration, in its field order. */
export const KubeletConfiguration = message('v1beta1.KubeletConfiguration', '', {
  ...{ enableServer: flag, staticPodPath: text, podLogsDir: text, syncFrequency: span, fileCheckFrequency: span, httpCheckFrequency: span },
  ...{ staticPodURL: text, staticPodURLHeader: field(0, mapOf(listOf(string))) },
  ...{ address: text, port: count, readOnlyPort: count, tlsCertFile: text, tlsPrivateKeyFile: text, tlsCipherSuites: texts },
  ...{ tlsCurvePreferences: field(0, listOf(int32)), tlsMinVersion: text, rotateCertificates: flag, serverTLSBootstrap: flag },
  ...{ authentication: field(0, Authentication), authorization: field(0, Authorization) },
  ...{ registryPullQPS: count, registryBurst: count, imagePullCredentialsVerificationPolicy: text },
  ...{ preloadedImagesVerificationAllowlist: texts, eventRecordQPS: count, eventBurst: count },
  ...{ enableDebuggingHandlers: flag, enableContentionProfiling: flag, healthzPort: count, healthzBindAddress: text, oomScoreAdj: count },
  ...{ clusterDomain: text, clusterDNS: texts, streamingConnectionIdleTimeout: span },
  ...{ nodeStatusUpdateFrequency: span, nodeStatusReportFrequency: span, nodeLeaseDurationSeconds: count },
  ...{ imageMinimumGCAge: span, imageMaximumGCAge: span, imageGCHighThresholdPercent: count, imageGCLowThresholdPercent: count },
  ...{ volumeStatsAggPeriod: span, kubeletCgroups: text, systemCgroups: text, cgroupRoot: text, cgroupsPerQOS: flag, cgroupDriver: text },
  ...{ cpuManagerPolicy: text, singleProcessOOMKill: flag, cpuManagerPolicyOptions: pairs, cpuManagerReconcilePeriod: span },
  ...{ memoryManagerPolicy: text, topologyManagerPolicy: text, topologyManagerScope: text, topologyManagerPolicyOptions: pairs },
  ...{ qosReserved: pairs, runtimeRequestTimeout: span, hairpinMode: text, maxPods: count, podCIDR: text, podPidsLimit: pointer(0, int64) },
  ...{ resolvConf: pointer(0, string), runOnce: flag, cpuCFSQuota: flag, cpuCFSQuotaPeriod: pointer(0, duration) },
  ...{ nodeStatusMaxImages: count, maxOpenFiles: pointer(0, int64), contentType: text, kubeAPIQPS: count, kubeAPIBurst: count },
  ...{ serializeImagePulls: flag, maxParallelImagePulls: count },
  ...{ evictionHard: explicitPairs, evictionSoft: pairs, evictionSoftGracePeriod: pairs, evictionPressureTransitionPeriod: span },
  ...{ evictionMaxPodGracePeriod: count, evictionMinimumReclaim: pairs, mergeDefaultEvictionSettings: flag },
  ...{ podsPerCore: count, enableControllerAttachDetach: flag, protectKernelDefaults: flag, makeIPTablesUtilChains: flag },
  ...{ iptablesMasqueradeBit: count, iptablesDropBit: count, featureGates: field(0, mapOf(bool)), failSwapOn: flag },
  memorySwap: field(0, object('v1beta1.MemorySwapConfiguration', '', { swapBehavior: text })),
  ...{ containerLogMaxSize: text, containerLogMaxFiles: count, containerLogMaxWorkers: count },
  ...{ containerLogMonitorInterval: pointer(0, duration), configMapAndSecretChangeDetectionStrategy: text },
  ...{ systemReserved: pairs, kubeReserved: pairs, reservedSystemCPUs: text, showHiddenMetricsForVersion: text },
  ...{ systemReservedCgroup: text, kubeReservedCgroup: text, enforceNodeAllocatable: texts, allowedUnsafeSysctls: texts },
  ...{ volumePluginDir: text, providerID: text, kernelMemcgNotification: flag, logging: field(0, Logging) },
  ...{ enableSystemLogHandler: flag, enableSystemLogQuery: flag, shutdownGracePeriod: span, shutdownGracePeriodCriticalPods: span },
  shutdownGracePeriodByPodPriority: field(0, listOf(PriorityPeriod)),
  crashLoopBackOff: field(0, object('v1beta1.CrashLoopBackOffConfig', '', { maxContainerRestartPeriod: pointer(0, duration) })),
  ...{ reservedMemory: field(0, listOf(MemoryReservation)), enableProfilingHandler: flag, enableDebugFlagsHandler: flag },
  ...{ seccompDefault: flag, memoryThrottlingFactor: pointer(0, double), memoryReservationPolicy: text },
  ...{ registerWithTaints: field(0, listOf(core.Taint)), registerNode: flag },
  tracing: field(0, object('v1.TracingConfiguration', '', { endpoint: pointer(0, string), samplingRatePerMillion: count })),
  ...{ localStorageCapacityIsolation: flag, containerRuntimeEndpoint: text, imageServiceEndpoint: text, failCgroupV1: flag },
  userNamespaces: field(0, object('v1beta1.UserNamespaces', '', { idsPerPod: pointer(0, int64) })),
});

/** As written: unset fields are absent. */
export type KubeletConfiguration = Infer<typeof KubeletConfiguration>;
