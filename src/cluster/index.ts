export type { ApiServerSettings, ServiceAccountSettings, ServingLimits, TlsSettings } from './config/api-server-settings.ts';
export type { AuditBackendSettings, AuditLogSettings, AuditSettings, AuditWebhookSettings } from './config/audit-settings.ts';
export { type ComponentFlags, type ConfigFile, ConfigFileError, parseConfigFile } from './config/config-file.ts';
export type { ExternalSecuritySettings, OidcSettings } from './config/external-security-settings.ts';
export { type AdminAccess, mergeKubeconfig, readIfExists, renderKubeconfig, withoutCluster } from './config/kubeconfig-file.ts';
export { AccountClients } from './controller-accounts.ts';
export { DataDirectory } from './data/data-directory.ts';
export { openEtcd } from './data/open-store.ts';
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
export {
  chooseRuntime,
  type NodeRuntime,
  privateContainerdOf,
  type RuntimeChoice,
  type RuntimeSite,
  runDirectoryOf,
} from './nodes/choose-runtime.ts';
export { machineAddresses } from './nodes/machine-addresses.ts';
export { type MachineNode, type NodeSpecification, type SimulatedNode, simulatedNodes } from './nodes/node-specification.ts';
export { releaseMachine } from './nodes/release-machine.ts';
export { followCertificates, type ServingCertificates } from './pki/follow-certificates.ts';
export { type ClusterPki, createClientCertificate, createPki, nodeSubject, renewedCertificates } from './pki/pki.ts';
export {
  type StandaloneApiServerConfig,
  type StandaloneApiServerDeps,
  startStandaloneApiServer,
} from './standalone-api-server.ts';
export { type Cluster, type ClusterConfig, type ClusterDeps, type Inheritance, startCluster } from './start-cluster.ts';
export { versionInfo } from './version.ts';
export { waitForReady } from './wait-for-ready.ts';
