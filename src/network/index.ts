export { type CniDirectories, CONFIG_FILE, pluginText } from './cni/install-plugin.ts';
export type { Backend } from './node-routes.ts';
export { type NetworkAgentConfig, type NetworkAgentDeps, startNetworkAgent } from './start-network-agent.ts';
