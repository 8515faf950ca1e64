export { applyConntrack } from './config/conntrack-settings.ts';
export {
  LOCAL_MODES,
  PROXY_MODES,
  type ProxyConfiguration,
  ProxyConfigurationError,
  type ProxyMode,
  readProxyConfiguration,
} from './config/proxy-configuration.ts';
export { listRules } from './list-rules.ts';
export { NftablesApplier, type NftablesSettings } from './nftables/nftables-applier.ts';
export { removeAllRules } from './remove-all-rules.ts';
export { computeServiceRules } from './rules/compute-rules.ts';
export { type KubeProxy, type ProxyConfig, type ProxyDeps, startProxy } from './start-proxy.ts';
