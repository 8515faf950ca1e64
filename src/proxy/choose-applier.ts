import type { core } from '#api';
import type { Clock, KernelNetwork, Logger, Random } from '#base';
import type { Applier } from './applier.ts';
import type { ProxyConfiguration, ProxyMode } from './config/proxy-configuration.ts';
import { IptablesApplier } from './iptables/iptables-applier.ts';
import { NftablesApplier, type NftablesSettings } from './nftables/nftables-applier.ts';
import { UserspaceApplier } from './userspace/userspace-applier.ts';

export interface ChosenApplier {
  readonly applier: Applier;
  readonly mode: ProxyMode;
}

export interface ApplierDeps {
  readonly kernel: KernelNetwork;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

export function createApplier(mode: ProxyMode, settings: NftablesSettings, deps: ApplierDeps): Applier {
  switch (mode) {
    case 'nftables':
      return new NftablesApplier(settings, deps);
    case 'iptables':
      return new IptablesApplier(settings, deps);
    case 'userspace':
      return new UserspaceApplier(settings, deps);
  }
}

/** The configured mode, or the best one that works here. */
export async function chooseApplier(config: ProxyConfiguration, node: core.Node | undefined, deps: ApplierDeps): Promise<ChosenApplier> {
  const settings = ruleSettings(config, node);
  if (config.mode !== undefined) {
    const applier = createApplier(config.mode, settings, deps);
    await applier.check();
    return { applier, mode: config.mode };
  }
  const preferred = createApplier('nftables', settings, deps);
  try {
    await preferred.check();
    return { applier: preferred, mode: 'nftables' };
  } catch (error) {
    deps.logger.warn('nftables is not available; the proxy forwards services itself', { error });
    return { applier: createApplier('userspace', settings, deps), mode: 'userspace' };
  }
}

export function ruleSettings(config: ProxyConfiguration, node: core.Node | undefined): NftablesSettings {
  const reported = (node?.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
  const own = config.nodeAddress === undefined ? reported : [config.nodeAddress];
  // As upstream, whose older modes serve node ports at all local addresses.
  const defaults = config.mode === 'iptables' ? ['0.0.0.0/0', '::/0'] : ['primary'];
  const addresses = config.nodePortAddresses.length === 0 ? defaults : config.nodePortAddresses;
  const nodePortAddresses = addresses.flatMap((item) => (item === 'primary' ? own : [item]));
  const { masqueradeAll, masqueradeBit, localhostNodePorts, podInterface } = config;
  const ofRules = { nodePortAddresses, localhostNodePorts, masqueradeAll, masqueradeBit };
  return { podCidrs: podCidrs(config, node), ...(podInterface && { podInterface }), ...ofRules };
}

function podCidrs({ detectLocalMode, clusterCidrs }: ProxyConfiguration, node: core.Node | undefined): readonly string[] {
  if (detectLocalMode === 'NodeCIDR') return node?.spec?.podCIDRs ?? [];
  return detectLocalMode === 'ClusterCIDR' ? clusterCidrs : [];
}
