import { pushAll } from '#base';
import { Path } from '#machinery';
import { cidrWarnings, ipWarnings } from '../../../ip.validation.ts';
import type { Service, ServiceSpec } from './service.ts';
import { CLUSTER_IP_NONE } from './service-traffic.ts';

const SPEC = Path.of('spec');

export function serviceWarnings({ metadata, spec = {} }: Service): readonly string[] {
  const warnings: string[] = [];
  if (metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] !== undefined) {
    warnings.push(
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    );
  }
  pushAll(warnings, addressWarnings(spec), typeWarnings(spec));
  if (spec.trafficDistribution === 'PreferClose') {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}

function addressWarnings(spec: ServiceSpec): string[] {
  const warnings: string[] = [];
  const headless = isHeadlessForWarnings(spec);
  const external = spec.externalIPs ?? [];
  if (spec.clusterIP && spec.clusterIP !== CLUSTER_IP_NONE) {
    pushAll(
      warnings,
      (spec.clusterIPs ?? []).flatMap((ip, i) => ipWarnings(SPEC.child('clusterIPs').index(i), ip)),
    );
  }
  if (headless) pushAll(warnings, headlessWarnings(spec));
  pushAll(
    warnings,
    external.flatMap((ip, i) => ipWarnings(SPEC.child('externalIPs').index(i), ip)),
  );
  if (external.length > 0 && !headless && spec.type !== 'ExternalName') {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  }
  if (spec.loadBalancerIP) pushAll(warnings, ipWarnings(SPEC.child('loadBalancerIP'), spec.loadBalancerIP));
  pushAll(
    warnings,
    (spec.loadBalancerSourceRanges ?? []).flatMap((range, i) => cidrWarnings(SPEC.child('loadBalancerSourceRanges').index(i), range)),
  );
  return warnings;
}

function isHeadlessForWarnings({ type, clusterIP }: ServiceSpec): boolean {
  return type === 'ClusterIP' && clusterIP === CLUSTER_IP_NONE;
}

function headlessWarnings({ loadBalancerIP, externalIPs, sessionAffinity }: ServiceSpec): string[] {
  const ignored: string[] = [];
  if (loadBalancerIP) ignored.push('loadBalancerIP');
  if (externalIPs?.length) ignored.push('externalIPs');
  if (sessionAffinity !== 'None') ignored.push('SessionAffinity');
  return ignored.map((field) => `spec.${field} is ignored for headless services`);
}

function typeWarnings({ type, externalIPs, externalName }: ServiceSpec): string[] {
  if (type === 'ExternalName') {
    return externalIPs?.length ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
  }
  return externalName ? ['spec.externalName is ignored when spec.type is not "ExternalName"'] : [];
}
