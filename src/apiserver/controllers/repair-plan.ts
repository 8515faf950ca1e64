import type { core, networking } from '#api';
import { parseTime } from '#machinery';
import type { ServiceName } from '../registry/core/allocation/cluster-ips.ts';

/** A value used by a service. */
export interface Claim<T> {
  readonly service: ServiceName;
  readonly value: T;
}

export interface RepairPlan {
  readonly missingAddresses: readonly Claim<string>[];
  readonly missingPorts: readonly Claim<number>[];
  readonly leakedAddresses: readonly string[];
  readonly leakedPorts: readonly number[];
}

export interface AllocationState {
  readonly services: readonly core.Service[];
  readonly addresses: readonly networking.IPAddress[];
  /** The service (`namespace/name`) of each port. */
  readonly ports: ReadonlyMap<number, string>;
  readonly now: number;
  /** How long a claim may exist without its service. */
  readonly graceMs: number;
}

const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';
const MANAGER = 'ipallocator.k8s.io';

/** Values that services use without a claim, and claims that no service uses. */
export function planRepair({ services, addresses, ports, now, graceMs }: AllocationState): RepairPlan {
  const used = services.map((service) => ({ service: nameOf(service), ips: clusterIpsOf(service), ports: nodePortsOf(service) }));
  const users = new Map(used.map((use) => [keyOf(use.service), use]));
  const addressNames = new Set(addresses.map(({ metadata }) => metadata.name));
  const isLeaked = ({ metadata, spec }: networking.IPAddress) => {
    const { namespace = '', name = '', resource } = spec?.parentRef ?? {};
    const isManaged = metadata.labels?.[MANAGED_BY] === MANAGER && resource === 'services';
    const isYoung = now - parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z') < graceMs;
    return isManaged && !isYoung && !users.get(keyOf({ namespace, name }))?.ips.includes(metadata.name ?? '');
  };
  return {
    missingAddresses: used.flatMap(({ service, ips }) => ips.filter((ip) => !addressNames.has(ip)).map((value) => ({ service, value }))),
    missingPorts: used.flatMap((use) => use.ports.filter((port) => !ports.has(port)).map((value) => ({ service: use.service, value }))),
    leakedAddresses: addresses.filter(isLeaked).map(({ metadata }) => metadata.name ?? ''),
    leakedPorts: [...ports].filter(([port, user]) => !users.get(user)?.ports.includes(port)).map(([port]) => port),
  };
}

function nameOf({ metadata }: core.Service): ServiceName {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
}

function keyOf({ namespace, name }: ServiceName): string {
  return `${namespace}/${name}`;
}

function clusterIpsOf({ spec }: core.Service): readonly string[] {
  if (spec?.type === 'ExternalName') return [];
  const ips = spec?.clusterIPs ?? (spec?.clusterIP ? [spec.clusterIP] : []);
  return ips.filter((ip) => ip !== '' && ip !== 'None');
}

function nodePortsOf({ spec }: core.Service): readonly number[] {
  const ports = (spec?.ports ?? []).flatMap(({ nodePort }) => nodePort || []);
  return [...new Set(spec?.healthCheckNodePort ? [...ports, spec.healthCheckNodePort] : ports)];
}
