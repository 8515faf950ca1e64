import { core, discovery } from '#api';
import { KernelNetwork } from '#base';
import { keyOf } from '#client';
import { createApplier, ruleSettings } from './choose-applier.ts';
import { computeServiceRules } from './rules/compute-rules.ts';
import { type ProxyConfig, type ProxyDeps, proxyNode, SERVICE_LABEL } from './start-proxy.ts';

/** The rules of a node's proxy as text. Does not touch this machine, so it works for simulated nodes too. */
export async function listRules(config: ProxyConfig, deps: ProxyDeps): Promise<readonly string[]> {
  const { client } = deps;
  const [services, slices, node] = await Promise.all([
    client.of(core.Service).list(),
    client.of(discovery.EndpointSlice).list(),
    client.of(core.Node).get({ name: config.nodeName }),
  ]);
  const applier = createApplier(config.mode ?? 'nftables', ruleSettings(config, node), { ...deps, kernel: new KernelNetwork() });
  const byService = new Map<string, discovery.EndpointSlice[]>();
  for (const slice of slices.items) {
    const key = `${slice.metadata?.namespace}/${slice.metadata?.labels?.[SERVICE_LABEL]}`;
    byService.set(key, [...(byService.get(key) ?? []), slice]);
  }
  for (const service of services.items) {
    const key = keyOf(service);
    applier.set(key, computeServiceRules(service, byService.get(key) ?? [], proxyNode(config.nodeName, node)));
  }
  return applier.describe();
}
