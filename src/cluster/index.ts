export { DataDirectory } from './data-directory.ts';
export { type AdminAccess, mergeKubeconfig, renderKubeconfig, withoutCluster } from './kubeconfig-file.ts';
export { type ClusterPki, createPki, renewPki } from './pki.ts';
export { type ApiServerSettings, type Cluster, type ClusterConfig, type ClusterDeps, startCluster } from './start-cluster.ts';
