export type { ApiServerSettings, ServiceAccountSettings, ServingLimits, TlsSettings } from './api-server-settings.ts';
export { type ComponentFlags, type ConfigFile, ConfigFileError, parseConfigFile } from './config-file.ts';
export { AccountClients } from './controller-accounts.ts';
export { DataDirectory } from './data-directory.ts';
export { followCertificates, type ServingCertificates } from './follow-certificates.ts';
export { type AdminAccess, mergeKubeconfig, readIfExists, renderKubeconfig, withoutCluster } from './kubeconfig-file.ts';
export {
  type ClusterState,
  contextName,
  type LocalCluster,
  type LocalClusterDeps,
  type LocalClusterOptions,
  openLocalCluster,
  readRunning,
  readState,
} from './local-cluster.ts';
export { openEtcd } from './open-store.ts';
export { type ClusterPki, createClientCertificate, createPki, nodeSubject, renewedCertificates } from './pki.ts';
export {
  type StandaloneApiServerConfig,
  type StandaloneApiServerDeps,
  startStandaloneApiServer,
} from './standalone-api-server.ts';
export { type Cluster, type ClusterConfig, type ClusterDeps, type Inheritance, startCluster } from './start-cluster.ts';
export { untilUsable } from './until-usable.ts';
export { versionInfo } from './version.ts';
