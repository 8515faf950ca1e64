import { createHash } from 'node:crypto';
import { type NftContent, type NftElement, type NftObject, pushAll } from '#base';
import type { Frontend, ProxyEndpoint, ServicePortRules } from '../rules/service-rules.ts';
import { ipOf, masqueradeMark, podMatch, type TableSettings } from './table-text.ts';

/** One map lookup finds the service, a second one its endpoint by a random index: services need map elements, not chains. */
export function frontendElements(
  frontend: Frontend,
  rules: Pick<ServicePortRules, 'id' | 'protocol' | 'affinitySeconds'>,
  settings: TableSettings,
): NftContent {
  const target = `${frontend.address === undefined ? '' : `${frontend.address} . `}${rules.protocol} . ${frontend.port}`;
  const isNode = frontend.address === undefined;
  const elements: NftElement[] = [...blocked(frontend, target), ...aroundFrontend(frontend, target)];
  const { endpoints, localEndpoints } = frontend;
  if (endpoints.length === 0 && !localEndpoints?.length) return { elements, objects: [] };
  const isSticky = rules.affinitySeconds !== undefined;
  if (!isSticky) {
    const prefix = isNode ? 'node-' : '';
    const of = `-${rules.protocol}`;
    pushAll(elements, indexed(`${prefix}endpoints${of}`, target, endpoints));
    pushAll(elements, indexed(`${prefix}local-endpoints${of}`, target, localEndpoints ?? []));
  }
  const pick = isSticky ? stickyChains(rules as StickyRules, settings) : sharedChains(isNode, rules.protocol, settings);
  const entry = entryChain(frontend, pick, settings);
  elements.push({ set: isNode ? 'node-ports' : 'services', key: target, value: `goto ${entry.at(-1)!.name}` });
  return { elements, objects: entry };
}

/** Frontends without endpoints: rejected, or dropped if only this node has none. */
function blocked({ address, endpoints, localEndpoints, dropsUnserved }: Frontend, key: string): readonly NftElement[] {
  const set = address === undefined ? 'no-node-endpoints' : 'no-endpoints';
  if (dropsUnserved) return [{ set, key, value: 'drop' }];
  if (localEndpoints !== undefined && localEndpoints.length === 0 && endpoints.length > 0)
    return [{ set, key, value: 'goto drop-from-outside' }];
  return endpoints.length === 0 && !localEndpoints?.length ? [{ set, key, value: 'goto reject-connection' }] : [];
}

function aroundFrontend({ kind, address, endpoints, localEndpoints, sourceRanges }: Frontend, key: string): readonly NftElement[] {
  const local = [...endpoints, ...(localEndpoints ?? [])].filter(({ isLocal }) => isLocal);
  const addresses = new Set(local.map((endpoint) => endpoint.address));
  return [
    ...(kind === 'clusterIP' ? [{ set: 'cluster-ips', key: address! }] : []),
    ...(sourceRanges ? [{ set: 'firewall', key }] : []),
    ...(sourceRanges ?? []).map((range) => ({ set: 'firewall-allow', key: `${key} . ${range}` })),
    ...[...addresses].map((endpoint) => ({ set: 'hairpin', key: `${endpoint} . ${endpoint}` })),
  ];
}

function indexed(set: string, target: string, endpoints: readonly ProxyEndpoint[]): readonly NftElement[] {
  return endpoints.map(({ address, port }, i) => ({ set, key: `${target} . ${i}`, value: `${address} . ${port}` }));
}

/** Creates the chains that pick one of some endpoints; the last one is the entry. */
type PickChains = (endpoints: readonly ProxyEndpoint[], mapName: 'endpoints' | 'local-endpoints') => readonly NftObject[];

/** One chain per protocol and number of endpoints, shared by services. */
function sharedChains(isNode: boolean, protocol: string, { family }: TableSettings): PickChains {
  const prefix = isNode ? 'node-' : '';
  const target = isNode ? 'meta l4proto . th dport' : `${ipOf(family)} daddr . meta l4proto . th dport`;
  return (endpoints, mapName) => {
    const content = [`dnat to ${target} . numgen random mod ${endpoints.length} map @${prefix}${mapName}-${protocol}`];
    return [{ kind: 'chain', name: `${prefix}${mapName}-${protocol}-${endpoints.length}`, content }];
  };
}

type StickyRules = Required<Pick<ServicePortRules, 'id' | 'protocol' | 'affinitySeconds'>>;

/** Session affinity needs a client set per endpoint, and so its own chains. */
function stickyChains({ id, protocol, affinitySeconds }: StickyRules, { family }: TableSettings): PickChains {
  const ip = ipOf(family);
  return (endpoints) => {
    const chains = endpoints.map((endpoint) => {
      const name = shortHash([id, String(affinitySeconds), endpoint.address, String(endpoint.port)]);
      const target = family === 4 ? `${endpoint.address}:${endpoint.port}` : `[${endpoint.address}]:${endpoint.port}`;
      const type = `type ${family === 4 ? 'ipv4' : 'ipv6'}_addr; flags dynamic, timeout; timeout ${affinitySeconds}s; size 65535;`;
      const set: NftObject = { kind: 'set', name: `clients-${name}`, content: [type] };
      const rules = [`update @${set.name} { ${ip} saddr }`, `meta l4proto ${protocol} dnat to ${target}`];
      const chain: NftObject = { kind: 'chain', name: `sticky-endpoint-${name}`, content: rules };
      return { set, chain };
    });
    const choices = chains.map(({ chain }, i) => `${i} : goto ${chain.name}`).join(', ');
    const content = [
      ...chains.map(({ set, chain }) => `${ip} saddr @${set.name} goto ${chain.name}`),
      `numgen random mod ${chains.length} vmap { ${choices} }`,
    ];
    const name = `sticky-${shortHash([id, ...content])}`;
    return [...chains.flatMap(({ set, chain }) => [set, chain]), { kind: 'chain', name, content }];
  };
}

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}

/** Decides about masquerading, and which endpoints a client may use. */
function entryChain({ endpoints, localEndpoints, masquerade }: Frontend, pick: PickChains, settings: TableSettings): readonly NftObject[] {
  const mark = masqueradeMark(settings);
  const setMark = `meta mark set meta mark | ${mark}`;
  const all = endpoints.length > 0 ? pick(endpoints, 'endpoints') : [];
  const goAll = `goto ${all.at(-1)?.name}`;
  if (localEndpoints !== undefined) {
    const local = localEndpoints.length > 0 ? pick(localEndpoints, 'local-endpoints') : [];
    const pods = podMatch(settings);
    const inside = all.length > 0 ? [...(pods ? [`${pods} ${goAll}`] : []), `fib saddr type local ${setMark} ${goAll}`] : [];
    const content = [...inside, ...(local.length > 0 ? [`goto ${local.at(-1)!.name}`] : [])];
    return [...all, ...local, { kind: 'chain', name: `local-${all.at(-1)?.name ?? 'none'}-${local.at(-1)?.name ?? 'none'}`, content }];
  }
  if (masquerade === 'always' || settings.masqueradeAll)
    return [...all, { kind: 'chain', name: `masquerade-${all.at(-1)!.name}`, content: [setMark, goAll] }];
  const others = podMatch(settings, '!= ');
  if (others === undefined) return all;
  return [...all, { kind: 'chain', name: `cluster-${all.at(-1)!.name}`, content: [`${others} ${setMark}`, goAll] }];
}
