export * from './cri/runtime.ts';
export { SimulatedRuntime, type SimulatedRuntimeConfig, type SimulatedRuntimeDeps } from './cri/simulated/simulated-runtime.ts';
export { parseStageFile, type Stage, type StageMatch } from './cri/simulated/stage.ts';
export { type Kubelet, type KubeletDeps, startKubelet } from './kubelet.ts';
export { KUBELET_PORT, type KubeletConfig } from './node/node-config.ts';
export type { NodePressure } from './node/node-status.ts';
export { type NodeFeed, sharedNodeFeed } from './pod-source.ts';
export type { KubeletAnswer, KubeletCall } from './server/kubelet-handler.ts';
export { SharedTicker } from './shared-ticker.ts';
