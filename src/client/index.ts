export {
  admissionregistration,
  apiextensions,
  apiregistration,
  apps,
  authentication,
  authorization,
  autoscaling,
  autoscalingV2,
  batch,
  certificates,
  coordination,
  core,
  discovery,
  events,
  flowcontrol,
  KINDS,
  type Kind,
  type meta,
  networking,
  node,
  policy,
  rbac,
  resource,
  scheduling,
  storage,
} from '#api';
export { createLogger, realClock, seededRandom, silentLogger, systemRandom, VirtualClock } from '#base';
export { isStatusReason, StatusError } from '#machinery';
export { Client, type ClientOptions } from './client.ts';
export { type CreateClientOptions, createClient } from './create-client.ts';
export { type DiscoveredResource, type Discovery, discover, discoverVersion, preferredResources } from './discovery.ts';
export {
  type EventRecorder,
  EventSink,
  type EventSinkDeps,
  type EventTarget,
  type EventText,
  type EventType,
  referenceTo,
} from './events/event-recorder.ts';
export type { ConnectionConfig, CredentialConfig, Impersonation } from './http/connection-config.ts';
export type { ExecPlugin } from './http/exec-plugin.ts';
export { type HttpsTransportDeps, type HttpsTransportOptions, httpsTransport } from './http/https-transport.ts';
export { type SwitchingTransport, switchingTransport } from './http/switching-transport.ts';
export { LineSplitter } from './http/watch-lines.ts';
export { InformerFactory } from './informer/informer-factory.ts';
export { type IndexFunction, type Lister, ObjectCache } from './informer/object-cache.ts';
export { type InformerDeps, type InformerHandler, type InformerOptions, SharedInformer } from './informer/shared-informer.ts';
export { type Draft, type Identified, type KubeObject, keyOf, keyText, type ObjectKey, type ObjectList, parseKey } from './kube-object.ts';
export {
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  KubeconfigError,
  type KubeconfigUser,
  mergeKubeconfigs,
  parseKubeconfig,
} from './kubeconfig/kubeconfig.ts';
export {
  connectionFrom,
  type InClusterValues,
  inClusterConnection,
  type KubeconfigChoice,
  type LoadedConnection,
  loadConnection,
  loadKubeconfig,
} from './kubeconfig/load-connection.ts';
export { type LeaderElectionConfig, type LeaderElectionDeps, LeaderElector } from './leader-elector.ts';
export { LeaderHealth } from './leader-health.ts';
export { type FailureRecord, isFault, type ObjectFailure, Quarantine, type QuarantineDeps } from './quarantine.ts';
export {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  type PatchOptions,
  ResourceClient,
  type Selection,
  type SubresourceClient,
  type WatchOptions,
  type WriteOptions,
} from './resource-client.ts';
export { objectPath, type ResourceRef, resourcePath, versionPath } from './resource-path.ts';
export {
  ALWAYS_ALLOWED,
  type ComponentCertificates,
  type ComponentServer,
  type ComponentServerConfig,
  type ComponentServerDeps,
  startComponentServer,
} from './serving/component-server.ts';
export {
  type AccessAttributes,
  ANONYMOUS,
  bearerToken,
  type Caller,
  callerByCertificate,
  DelegatedAccess,
  type DelegatedAccessDeps,
  type DelegationTimes,
} from './serving/delegated-access.ts';
export { flagzResponse, statuszResponse, type ZpageResponse } from './serving/zpages.ts';
export * from './streaming/index.ts';
export type { Method, Transport, TransportRequest, WatchEventType, WatchSink } from './transport.ts';
export type { WatchEvent } from './watch-events.ts';
