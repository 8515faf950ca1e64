import { Quantity } from '#machinery';
import type { Service } from '../core/v1/service/service.ts';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';

const SERVICES = { group: '', resource: 'services' };
const COUNT = objectCountName(SERVICES);
const NAMES: ReadonlySet<string> = new Set([COUNT, 'services', 'services.nodeports', 'services.loadbalancers']);

export const serviceEvaluator: QuotaEvaluator<Service> = {
  ...SERVICES,
  matching: (names) => names.filter((name) => NAMES.has(name)),
  usage: (service) =>
    new Map([
      [COUNT, Quantity.of(1)],
      ['services', Quantity.of(1)],
      ['services.nodeports', Quantity.of(nodePorts(service))],
      ['services.loadbalancers', Quantity.of(service.spec?.type === 'LoadBalancer' ? 1 : 0)],
    ]),
  matchesScope: () => false,
  changesUsage: (before, after) => costlyType(before) !== costlyType(after),
};

function nodePorts({ spec }: Service): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
}

function costlyType({ spec }: Service): string {
  return spec?.type === 'NodePort' || spec?.type === 'LoadBalancer' ? spec.type : '';
}
