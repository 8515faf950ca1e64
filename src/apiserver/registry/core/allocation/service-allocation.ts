import { core, sameValue } from '#api';
import { parseIp } from '#base';
import { FieldError, Path, StatusError } from '#machinery';
import { hasNodePorts } from '../service-type-change.ts';

/**
 * A service's allocations: cluster IPs and node ports. Planning is pure; the caller claims:
 *
 *     const plan = allocationsFor(service, old, families);       // throws StatusError for what cannot be
 *     // claim plan.clusterIPs, plan.nodePorts and plan.healthCheckNodePort: those given by number or address as they are, the others freely
 *     const complete = withAllocated(plan, { clusterIPs, nodePorts, healthCheckNodePort });
 *     // then prepare, validate and store `complete`; on success give back plan.release, otherwise what was claimed
 *
 * All of it happens before the object is prepared and validated.
 */
export type IpFamily = 'IPv4' | 'IPv6';

export interface ClusterIpRequest {
  readonly family: IpFamily;
  /** The index in clusterIPs. */
  readonly index: number;
  /** The requested address; any if undefined. */
  readonly ip?: string;
}

export interface NodePortRequest {
  /** The index of the service port, for errors. */
  readonly index: number;
  /** All ports that share the node port: equal port numbers with different protocols. */
  readonly indices: readonly number[];
  readonly port?: number;
}

export interface ServiceAllocations {
  /** The service with linked fields synchronized, before allocation. */
  readonly service: core.Service;
  readonly clusterIPs: readonly ClusterIpRequest[];
  readonly nodePorts: readonly NodePortRequest[];
  readonly healthCheckNodePort?: { readonly port?: number };
  /** Values that the update frees; released after it is stored. */
  readonly release: ServiceReleases;
}

export interface ServiceReleases {
  readonly clusterIPs: readonly string[];
  readonly nodePorts: readonly number[];
}

/** Claimed values, in the order of the plan's requests. */
export interface AllocatedValues {
  readonly clusterIPs: readonly string[];
  readonly nodePorts: readonly number[];
  readonly healthCheckNodePort?: number;
}

type Spec = core.ServiceSpec;
const SPEC = Path.of('spec');
const POLICY = SPEC.child('ipFamilyPolicy');
const KIND = { group: '', kind: 'Service' };

/** Plans the allocations of a service. `families` are the cluster's, the default first. */
export function allocationsFor(service: core.Service, old: core.Service | undefined, families: readonly IpFamily[]): ServiceAllocations {
  const linked = inStep(service, old);
  const spec = initFamilies(linked, old, families);
  const prepared = { ...linked, spec };
  const addresses = old ? addressesForUpdate(spec, old.spec ?? {}) : { requests: addressRequests(spec), release: [] };
  const ports = old ? portsForUpdate(prepared, old) : { requests: hasNodePorts(spec) ? portRequests(spec) : [], release: [] };
  const health = healthCheckFor(spec, old?.spec);
  return {
    service: prepared,
    clusterIPs: addresses.requests,
    nodePorts: ports.requests,
    ...(health.request && { healthCheckNodePort: health.request }),
    release: { clusterIPs: addresses.release, nodePorts: [...ports.release, ...health.release] },
  };
}

/** The values that a deleted service releases. */
export function releasesOf({ spec = {} }: core.Service): ServiceReleases {
  const health = core.needsHealthCheck(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [];
  const clusterIPs = spec.type === 'ExternalName' || spec.clusterIPs?.[0] === core.CLUSTER_IP_NONE ? [] : (spec.clusterIPs ?? []);
  return { clusterIPs, nodePorts: [...nodePortsOf(spec), ...health] };
}

/** The service with the claimed values. */
export function withAllocated(plan: ServiceAllocations, values: AllocatedValues): core.Service {
  let spec: Spec = plan.service.spec ?? {};
  if (plan.clusterIPs.length > 0) {
    const clusterIPs = [...(spec.clusterIPs ?? [])];
    for (const [i, { index }] of plan.clusterIPs.entries()) clusterIPs[index] = values.clusterIPs[i] ?? '';
    spec = { ...spec, clusterIPs, clusterIP: clusterIPs[0] ?? '' };
  }
  if (plan.nodePorts.length > 0 && spec.ports) {
    const byIndex = new Map(plan.nodePorts.flatMap(({ indices }, i) => indices.map((index) => [index, values.nodePorts[i] ?? 0] as const)));
    spec = { ...spec, ports: spec.ports.map((port, i) => (byIndex.has(i) ? { ...port, nodePort: byIndex.get(i) ?? 0 } : port)) };
  }
  if (values.healthCheckNodePort !== undefined) spec = { ...spec, healthCheckNodePort: values.healthCheckNodePort };
  return { ...plan.service, spec };
}

/** The error if an address cannot be allocated; `ip` is undefined if any would have done. */
export function clusterIpError({ service, clusterIPs }: ServiceAllocations, problem: string, ip?: string): StatusError {
  const detail = ip === undefined ? `failed to allocate IP: ${problem}` : `failed to allocate IP ${ip}: ${problem}`;
  // Unallocated addresses appear as empty strings.
  const clusterIPList = [...(service.spec?.clusterIPs ?? [])];
  for (const { index, ip: address } of clusterIPs) clusterIPList[index] = address ?? '';
  return StatusError.invalid(KIND, service.metadata.name, [FieldError.invalid(SPEC.child('clusterIPs'), clusterIPList, detail)]);
}

export function nodePortError({ service }: ServiceAllocations, { index, port }: NodePortRequest, problem: string): StatusError {
  const path = SPEC.child('ports').index(index).child('nodePort');
  return StatusError.invalid(KIND, service.metadata.name, [FieldError.invalid(path, port ?? 0, problem)]);
}

// --- fields that depend on each other -----------------------------------------------------------------------------

/** Old clients omit fields: allocated values stay, and clusterIPs[0] follows clusterIP. */
function inStep(service: core.Service, old: core.Service | undefined): core.Service {
  const spec = service.spec ?? {};
  if (!old) {
    return spec.clusterIP && !spec.clusterIPs?.length ? { ...service, spec: { ...spec, clusterIPs: [spec.clusterIP] } } : service;
  }
  return { ...service, spec: linkClusterIps(keepAllocated(spec, old.spec ?? {}), old.spec ?? {}) };
}

/** Whether ports without a node port get one. */
function allocatesNodePorts({ type, allocateLoadBalancerNodePorts }: Spec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

function nodePortsOf({ ports = [] }: Spec): number[] {
  return ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
}

function keepAllocated(spec: Spec, before: Spec): Spec {
  let result = spec;
  if (before.type !== 'ExternalName' && spec.type !== 'ExternalName') {
    if (!result.clusterIP && before.clusterIP) result = { ...result, clusterIP: before.clusterIP };
    if (!result.clusterIPs?.length && before.clusterIPs?.length) result = { ...result, clusterIPs: before.clusterIPs };
  }
  if (allocatesNodePorts(before) && allocatesNodePorts(spec)) result = keepNodePorts(result, before);
  if (core.needsHealthCheck(before) && core.needsHealthCheck(spec) && !result.healthCheckNodePort && before.healthCheckNodePort) {
    result = { ...result, healthCheckNodePort: before.healthCheckNodePort };
  }
  return result;
}

/** Node ports stay with their port's name, unless the client assigned them to another. */
function keepNodePorts(spec: Spec, before: Spec): Spec {
  if (!spec.ports?.some(({ nodePort }) => !nodePort)) return spec;
  const inUse = new Set(nodePortsOf(spec));
  const unchangedPorts = new Set(nodePortsOf(before).filter((port) => inUse.has(port)));
  const byName = new Map(before.ports?.map(({ name, nodePort }) => [name ?? '', nodePort ?? 0]));
  const ports = spec.ports.map((port) => {
    const nodePort = port.nodePort ? 0 : (byName.get(port.name ?? '') ?? 0);
    return nodePort === 0 || unchangedPorts.has(nodePort) ? port : { ...port, nodePort: nodePort };
  });
  return { ...spec, ports };
}

function linkClusterIps(spec: Spec, before: Spec): Spec {
  const clusterIP = spec.clusterIP ?? '';
  const was = before.clusterIP ?? '';
  let clusterIPs = spec.clusterIPs ?? [];
  if (before.clusterIPs?.length && clusterIPs.length === 0 && was === clusterIP) clusterIPs = before.clusterIPs;
  if (was !== clusterIP && sameValue(before.clusterIPs, clusterIPs)) clusterIPs = was !== '' && clusterIP === '' ? [] : [clusterIP];
  if (clusterIPs === spec.clusterIPs || (clusterIPs.length === 0 && !spec.clusterIPs)) return spec;
  const { clusterIPs: _, ...rest } = spec;
  return clusterIPs.length === 0 ? rest : { ...rest, clusterIPs };
}

// --- IP families --------------------------------------------------------------------------------------------------

const OTHER: Readonly<Record<IpFamily, IpFamily>> = { IPv4: 'IPv6', IPv6: 'IPv4' };

function familyOf(ip: string): IpFamily {
  return parseIp(ip)?.family === 6 ? 'IPv6' : 'IPv4';
}

/** A service that prefers two families is not changed because the cluster gained or lost one. */
function keepsPreference(spec: Spec, before: Spec | undefined): boolean {
  if (!before || spec.type !== before.type || spec.ipFamilyPolicy !== 'PreferDualStack') return false;
  if (before.ipFamilyPolicy !== undefined && before.ipFamilyPolicy !== 'PreferDualStack') return false;
  return sameValue(before.clusterIPs, spec.clusterIPs) && sameValue(before.ipFamilies, spec.ipFamilies);
}

function initFamilies(service: core.Service, old: core.Service | undefined, families: readonly IpFamily[]): Spec {
  const spec = service.spec ?? {};
  if (spec.type === 'ExternalName' || keepsPreference(spec, old?.spec)) return spec;
  const withPolicy = { ...spec, ipFamilyPolicy: policyOf(spec, old?.spec) };
  checkValid(service, core.validateClusterIpFields({ ...service, spec: withPolicy }, old));
  const narrowed = old ? narrow(withPolicy, old.spec ?? {}) : withPolicy;
  const inferred = inferFamilies(narrowed, families);
  checkValid(service, [...reductionErrors(narrowed, old?.spec), ...policyErrors(narrowed), ...inferred.errors]);
  if (isHeadlessWithoutSelector(spec)) return freeFamilies(inferred.spec, families);
  checkValid(service, familyErrors(inferred.spec, families));
  return completeFamilies(inferred.spec, families);
}

function checkValid({ metadata }: core.Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw StatusError.invalid(KIND, metadata.name, errors);
}

function isHeadlessWithoutSelector({ clusterIP, selector }: Spec): boolean {
  return clusterIP === core.CLUSTER_IP_NONE && Object.keys(selector ?? {}).length === 0;
}

function policyOf(spec: Spec, before: Spec | undefined): string {
  if (spec.ipFamilyPolicy !== undefined) return spec.ipFamilyPolicy;
  if (before?.ipFamilyPolicy !== undefined) return before.ipFamilyPolicy;
  return isHeadlessWithoutSelector(spec) ? 'RequireDualStack' : 'SingleStack';
}

/** Narrowing to one family requires only a change of the policy. */
function narrow(spec: Spec, before: Spec): Spec {
  if (spec.ipFamilyPolicy !== 'SingleStack') return spec;
  let narrowed = spec;
  if (sameValue(before.clusterIPs, spec.clusterIPs) && (spec.clusterIPs?.length ?? 0) > 1) {
    narrowed = { ...narrowed, clusterIPs: spec.clusterIPs?.slice(0, 1) ?? [] };
  }
  if (sameValue(before.ipFamilies, spec.ipFamilies) && (spec.ipFamilies?.length ?? 0) > 1) {
    narrowed = { ...narrowed, ipFamilies: spec.ipFamilies?.slice(0, 1) ?? [] };
  }
  return narrowed;
}

function reductionErrors(spec: Spec, before: Spec | undefined): FieldError[] {
  if (!before || spec.ipFamilyPolicy === 'SingleStack') return [];
  const reduced = (now: readonly string[] = [], was: readonly string[] = []) => now.length > 0 && now.length < was.length;
  const error = (noun: string) => FieldError.invalid(POLICY, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${noun}`);
  return [
    ...(reduced(spec.clusterIPs, before.clusterIPs) ? [error('cluster IP')] : []),
    ...(reduced(spec.ipFamilies, before.ipFamilies) ? [error('IP family')] : []),
  ];
}

function policyErrors({ ipFamilyPolicy, clusterIPs, ipFamilies }: Spec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const error = (noun: string) =>
    FieldError.invalid(POLICY, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${noun} are specified`);
  return [...(clusterIPs?.length === 2 ? [error('cluster IPs')] : []), ...(ipFamilies?.length === 2 ? [error('IP families')] : [])];
}

/** Infers the families of requested addresses. */
function inferFamilies(spec: Spec, families: readonly IpFamily[]): { spec: Spec; errors: FieldError[] } {
  const currentFamilies = [...(spec.ipFamilies ?? [])];
  const errors: FieldError[] = [];
  const clusterIPs = spec.clusterIPs ?? [];
  if (clusterIPs[0] === core.CLUSTER_IP_NONE) return { spec, errors };
  clusterIPs.forEach((ip, i) => {
    if (i < (spec.ipFamilies?.length ?? 0)) return;
    const family = familyOf(ip);
    if (families.includes(family)) currentFamilies.push(family);
    else errors.push(FieldError.invalid(SPEC.child('clusterIPs').index(i), clusterIPs, `${family} is not configured on this cluster`));
  });
  return { spec: currentFamilies.length === 0 ? spec : { ...spec, ipFamilies: currentFamilies }, errors };
}

/** A headless service without selector may name families that the cluster lacks. */
function freeFamilies(spec: Spec, families: readonly IpFamily[]): Spec {
  const [first = families[0] ?? 'IPv4', ...rest] = spec.ipFamilies ?? [];
  if (rest.length > 0 || spec.ipFamilyPolicy === 'SingleStack') return { ...spec, ipFamilies: [first, ...rest] };
  return { ...spec, ipFamilies: [first, OTHER[first as IpFamily]] };
}

function familyErrors({ ipFamilyPolicy, ipFamilies = [] }: Spec, families: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack' && families.length < 2) {
    errors.push(FieldError.invalid(POLICY, ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  ipFamilies.forEach((family, i) => {
    if (families.includes(family as IpFamily)) return;
    errors.push(FieldError.invalid(SPEC.child('ipFamilies').index(i), family, 'not configured on this cluster'));
  });
  return errors;
}

function completeFamilies(spec: Spec, families: readonly IpFamily[]): Spec {
  const requested = spec.ipFamilies?.length ? spec.ipFamilies : families.slice(0, 1);
  const [first] = requested;
  const addsOther = spec.ipFamilyPolicy !== 'SingleStack' && requested.length === 1 && families.length === 2;
  return { ...spec, ipFamilies: addsOther ? [first ?? 'IPv4', OTHER[(first ?? 'IPv4') as IpFamily]] : requested };
}

// --- requests --------------------------------------------------------------------------------------------------------

interface AddressPlan {
  readonly requests: readonly ClusterIpRequest[];
  readonly release: readonly string[];
}

function addressRequest(spec: Spec, index: number): ClusterIpRequest {
  const ip = spec.clusterIPs?.[index];
  return { family: (spec.ipFamilies?.[index] ?? 'IPv4') as IpFamily, index, ...(ip && { ip }) };
}

function addressRequests(spec: Spec): ClusterIpRequest[] {
  if (spec.type === 'ExternalName' || spec.clusterIPs?.[0] === core.CLUSTER_IP_NONE) return [];
  return (spec.ipFamilies ?? []).map((_, index) => addressRequest(spec, index));
}

function addressesForUpdate(spec: Spec, before: Spec): AddressPlan {
  if (keepsPreference(spec, before)) return { requests: [], release: [] };
  if (before.type === 'ExternalName') return { requests: addressRequests(spec), release: [] };
  if (before.clusterIPs?.[0] === core.CLUSTER_IP_NONE) return { requests: [], release: [] };
  if (spec.type === 'ExternalName') return { requests: [], release: before.clusterIPs ?? [] };
  const was = before.ipFamilies?.length ?? 0;
  const now = spec.ipFamilies?.length ?? 0;
  if (was === 1 && now === 2) return { requests: [addressRequest(spec, 1)], release: [] };
  return { requests: [], release: was === 2 && now === 1 ? (before.clusterIPs?.slice(1, 2) ?? []) : [] };
}

interface PortPlan {
  readonly requests: readonly NodePortRequest[];
  readonly release: readonly number[];
}

/** Ports of a new service with equal numbers share a node port unless each requests its own. */
function portRequests(spec: Spec): NodePortRequest[] {
  const ports = spec.ports ?? [];
  const requests: { index: number; indices: number[]; port?: number }[] = [];
  const byNumber = new Map<number, { index: number; indices: number[]; port?: number }>();
  const stated = new Map(
    ports
      .filter(({ nodePort }) => nodePort)
      .map(({ port, nodePort }) => [port, nodePort] as const)
      .reverse(),
  );
  ports.forEach((port, index) => {
    if (!port.nodePort && !allocatesNodePorts(spec)) return;
    const shared = byNumber.get(port.port);
    if (shared && (!port.nodePort || port.nodePort === shared.port)) {
      shared.indices.push(index);
      return;
    }
    const requested = shared ? port.nodePort : stated.get(port.port);
    const request = { index, indices: [index], ...(requested && { port: requested }) };
    requests.push(request);
    if (!shared) byNumber.set(port.port, request);
  });
  return requests;
}

function portsForUpdate(service: core.Service, old: core.Service): PortPlan {
  const spec = service.spec ?? {};
  const before = nodePortsOf(old.spec ?? {});
  const [oldPorts, newPorts] = [new Set(before), new Set(nodePortsOf(spec))];
  if (!hasNodePorts(spec)) return { requests: [], release: hasNodePorts(old.spec ?? {}) ? before : [] };
  const requests: NodePortRequest[] = [];
  const seen = new Set<string>();
  const claimed = new Set<number>();
  (spec.ports ?? []).forEach(({ nodePort, protocol }, index) => {
    if (!nodePort) {
      if (allocatesNodePorts(spec)) requests.push({ index, indices: [index] });
      return;
    }
    const key = `{${protocol} ${nodePort}}`;
    if (!oldPorts.has(nodePort) && !claimed.has(nodePort)) requests.push({ index, indices: [index], port: nodePort });
    claimed.add(nodePort);
    if (seen.has(key)) throw StatusError.from(new Error(`duplicate nodePort: ${key}`));
    seen.add(key);
  });
  return { requests, release: before.filter((port) => !newPorts.has(port)) };
}

function healthCheckFor(spec: Spec, before: Spec | undefined): { request?: { port?: number }; release: number[] } {
  const needed = before !== undefined && core.needsHealthCheck(before);
  const needsPort = core.needsHealthCheck(spec);
  if (needsPort && !needed) return { request: spec.healthCheckNodePort ? { port: spec.healthCheckNodePort } : {}, release: [] };
  return { release: needed && !needsPort && before.healthCheckNodePort ? [before.healthCheckNodePort] : [] };
}
