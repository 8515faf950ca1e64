export { type Bootstrap, bootstrapClient } from './certificates/bootstrap-client.ts';
export { type RotatingClient, rotatingClient } from './certificates/rotate-client.ts';
export { certificateFromFiles, certificateFromSigner, selfSignedFiles } from './certificates/serving-certificate.ts';
export { moveToCgroup } from './cgroups/cgroup-tree.ts';
export { type DefaultedConfiguration, withDefaults } from './configuration/defaults.ts';
export { ineffectiveFields } from './configuration/ineffective-fields.ts';
export type { KubeletConfiguration } from './configuration/kubelet-configuration.ts';
export {
  ConfigurationError,
  type ConfigurationFile,
  type ReadConfiguration,
  readConfiguration,
} from './configuration/read-configuration.ts';
export { configurationProblems } from './configuration/validate-configuration.ts';
export { ArchiveError, type ImportOptions, importArchive } from './containerd/import-archive.ts';
export { findProgram } from './containerd/machine-programs.ts';
export { noStreaming } from './containerd/no-streaming.ts';
export { PAUSE_IMAGE } from './containerd/pause-image.ts';
export { type Architecture, architectureOf } from './containerd/pause-program.ts';
export {
  cniDirectories,
  endpointOf,
  type PrivateContainerd,
  type PrivateContainerdConfig,
  type PrivateContainerdDeps,
  startPrivateContainerd,
  stopLeftovers,
} from './containerd/private-containerd.ts';
export { GrpcRuntime, type GrpcRuntimeDeps, type GrpcRuntimeOptions } from './cri/grpc/grpc-runtime.ts';
export type { StreamingClient } from './cri/grpc/streaming-client.ts';
export { streamingUrlClient } from './cri/grpc/streaming-url-client.ts';
export * from './cri/runtime.ts';
export {
  type MachineFailure,
  type SimulatedKubelet,
  type SimulatedKubeletConfig,
  type SimulatedKubeletDeps,
  startSimulatedKubelet,
} from './cri/simulated/simulated-kubelet.ts';
export type { SimulatedUsage } from './cri/simulated/simulated-measurements.ts';
export { SimulatedRuntime, type SimulatedRuntimeConfig, type SimulatedRuntimeDeps } from './cri/simulated/simulated-runtime.ts';
export { parseStageFile, type Stage, type StageMatch } from './cri/simulated/stage.ts';
export { type CsiControllerDeps, startCsiController } from './csi/controller/csi-controller.ts';
export { CsiDriver, CsiDrivers } from './csi/csi-drivers.ts';
export { type CsiNodeDeps, csiPluginHandler } from './csi/csi-node.ts';
export { CsiNodeObject } from './csi/csi-node-object.ts';
export * as csi from './csi/messages.ts';
export { type PluginHandler, startPluginRegistry } from './csi/plugin-registry.ts';
export { VolumeLimits } from './csi/volume-limits.ts';
export * as devicePlugins from './devices/messages.ts';
export * as dra from './dra/messages.ts';
export { DEFAULT_EVICTION_HARD, type EvictionConfig, parseThresholds } from './eviction/thresholds.ts';
export type { ImageGcConfig } from './gc/image-garbage.ts';
export { readProviderConfig } from './images/credentials/provider-config.ts';
export { type Kubelet, type KubeletDeps, startKubelet } from './kubelet.ts';
export { type LinuxKubelet, type LinuxKubeletConfig, type LinuxKubeletDeps, startLinuxKubelet } from './linux/linux-kubelet.ts';
export type { NodeResourcesConfig } from './linux/node-resources.ts';
export { directoryBackend, type LocalBackend, simulatedBackend } from './local-storage/local-backend.ts';
export { type LocalProvisionerConfig, type LocalProvisionerDeps, startLocalProvisioner } from './local-storage/local-provisioner.ts';
export { type CriLogsDeps, criLogs } from './logs/cri-logs.ts';
export { KUBELET_PORT, type KubeletConfig } from './node/node-config.ts';
export type { NodePressure } from './node/node-pressure.ts';
export * as podResources from './podresources/messages.ts';
export { type NodeFeed, sharedNodeFeed } from './pods/pod-source.ts';
export { RequestLimits } from './request-limits.ts';
export type { KubeletCall, KubeletResponse } from './server/kubelet-handler.ts';
export {
  type KubeletServer,
  type KubeletServerConfig,
  type KubeletServerDeps,
  type ServingKeys,
  startKubeletServer,
} from './server/kubelet-server.ts';
export { type NodeServersConfig, type NodeServersDeps, type ServingCertificate, startNodeServers } from './server/node-servers.ts';
export { SharedTicker } from './shared-ticker.ts';
export { KubeletTracing, openKubeletTracing } from './tracing/kubelet-tracing.ts';
export { hostMounter, type Mounter } from './volumes/mount/mounter.ts';
export { NodeVolumes, type NodeVolumesDeps } from './volumes/node-volumes.ts';
export { PodDirectories } from './volumes/pod-directories.ts';
export type { PodVolumes } from './volumes/pod-volumes.ts';
export { type VolumesHookOptions, volumesHook } from './volumes/volumes-hook.ts';
