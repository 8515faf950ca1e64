import { core } from '#api';
import { Quantity } from '#machinery';
import { pressureProblem } from '../eviction/admission.ts';
import type { NodePressure } from '../node/node-pressure.ts';
import type { Shortage } from '../preemption/choose-pods.ts';
import type { PodRejection } from '../status/pod-status.ts';
import { isCritical, isStatic } from './config/critical-pods.ts';
import { podRequest, podRequests, resourceAmount } from './pod-requests.ts';
import { isSidecar } from './pod-state.ts';
import { sysctlProblem } from './sysctl-admission.ts';

export interface AdmissionFacts {
  readonly node: core.Node;
  /** The other admitted pods that have not terminated. */
  readonly others: readonly core.Pod[];
  /** The node's resource pressure. Absent: none. */
  readonly pressure?: NodePressure;
  /** As `--allowed-unsafe-sysctls`: names, or prefixes ending with a star. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** The resources that device plugins give out: these say themselves what is left. */
  readonly pluginResources?: ReadonlySet<string>;
  /** Whether the machine enforces AppArmor profiles. Absent: it does. */
  readonly hasAppArmor?: boolean;
}

export interface AdmissionProblem extends PodRejection {
  /** What a critical pod lacks, where it is admitted once other pods have made room. */
  readonly shortages?: readonly Shortage[];
}

/** Why the node rejects a pod, or undefined. The first reason wins, in upstream's order. Pure. */
export function admissionProblem(pod: core.Pod, facts: AdmissionFacts): AdmissionProblem | undefined {
  return (
    (facts.pressure && pressureProblem(pod, facts.pressure)) ??
    sysctlProblem(pod, facts.allowedUnsafeSysctls ?? []) ??
    osProblem(pod, facts) ??
    groupsProblem(pod, facts) ??
    predicateProblem(pod, facts) ??
    appArmorProblem(pod, facts)
  );
}

/** Resources do not keep a critical pod from its node, unless something else does. */
function predicateProblem(pod: core.Pod, facts: AdmissionFacts): AdmissionProblem | undefined {
  const lacks = resourceLacks(pod, facts);
  const [lack] = lacks;
  const other = () => affinityProblem(pod, facts) ?? portProblem(pod, facts) ?? taintProblem(pod, facts);
  if (lack === undefined) return other();
  if (!isCritical(pod)) return outOf(lack);
  const shortages = lacks.map(({ resource, requested, used, capacity }) => ({ resource, amount: requested - (capacity - used) }));
  return other() ?? { ...outOf(lack), shortages };
}

const OS_LABEL = 'kubernetes.io/os';

function osProblem({ metadata, spec }: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  const os = node.status?.nodeInfo?.operatingSystem ?? 'linux';
  const label = metadata.labels?.[OS_LABEL];
  if (label !== undefined && label !== os) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec?.os === undefined || spec.os.name === os) return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function groupsProblem({ spec }: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  if (spec?.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.status?.features?.supplementalGroupsPolicy === true)
    return undefined;
  const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
  return { reason: 'SupplementalGroupsPolicyNotSupported', message };
}

interface Lack {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

function resourceLacks(pod: core.Pod, { node, others, pluginResources }: AdmissionFacts): readonly Lack[] {
  const allocatable = node.status?.allocatable ?? {};
  const lacks: Lack[] = [];
  const maxPods = Number(allocatable.pods ?? Infinity);
  if (others.length + 1 > maxPods) lacks.push({ resource: 'pods', requested: 1, used: others.length, capacity: maxPods });
  for (const resource of countedResources(pod)) {
    const requested = podRequest(pod, resource);
    const quantity = allocatable[resource] ?? (isExtended(resource) || COMMON.includes(resource) ? undefined : '0');
    // Resources that the node does not have are those of the cluster, and not checked.
    if (quantity === undefined || requested === 0 || pluginResources?.has(resource)) continue;
    const capacity = resourceAmount(resource, Quantity.parse(quantity));
    const used = others.reduce((sum, other) => sum + podRequest(other, resource), 0);
    if (used + requested > capacity) lacks.push({ resource, requested, used, capacity });
  }
  return lacks;
}

const COMMON: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

function countedResources(pod: core.Pod): readonly string[] {
  return [...COMMON, ...[...podRequests(pod).keys()].filter((resource) => !COMMON.includes(resource))];
}

function isExtended(resource: string): boolean {
  return resource.includes('/') && !/(^|\.)kubernetes\.io\//.test(resource);
}

function outOf({ resource, requested, used, capacity }: Lack): PodRejection {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message };
}

function affinityProblem(pod: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  const { name, labels = {} } = node.metadata;
  if (core.requiredNodeAffinity(pod)?.matches({ name, labels }) !== false) return undefined;
  return { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
}

function portProblem(pod: core.Pod, { others }: AdmissionFacts): PodRejection | undefined {
  const ports = hostPorts(pod);
  if (ports.length === 0) return undefined;
  const addressesInUse = new Map<string, Set<string>>();
  for (const port of others.flatMap(hostPorts)) {
    const addresses = addressesInUse.get(portKey(port)) ?? new Set();
    addressesInUse.set(portKey(port), addresses.add(addressOf(port)));
  }
  const collides = (port: core.ContainerPort) => {
    const addresses = addressesInUse.get(portKey(port));
    return addresses !== undefined && (addressOf(port) === ANY_ADDRESS || addresses.has(ANY_ADDRESS) || addresses.has(addressOf(port)));
  };
  if (!ports.some(collides)) return undefined;
  return { reason: 'NodePorts', message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" };
}

function taintProblem(pod: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  if (isStatic(pod)) return undefined;
  const harmful = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  if (harmful.every((taint) => core.isTaintTolerated(pod.spec?.tolerations ?? [], taint))) return undefined;
  return { reason: 'TaintToleration', message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate" };
}

function appArmorProblem({ spec }: core.Pod, { hasAppArmor = true }: AdmissionFacts): PodRejection | undefined {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const profiles = [spec?.securityContext, ...containers.map(({ securityContext }) => securityContext)].map((one) => one?.appArmorProfile);
  const isNeeded = profiles.some((profile) => profile !== undefined && profile.type !== 'Unconfined');
  if (hasAppArmor || !isNeeded) return undefined;
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
}

function hostPorts({ spec }: core.Pod): readonly core.ContainerPort[] {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  return containers.flatMap(({ ports = [] }) => ports.filter(({ hostPort = 0 }) => hostPort > 0));
}

const ANY_ADDRESS = '0.0.0.0';

function addressOf({ hostIP }: core.ContainerPort): string {
  return hostIP || ANY_ADDRESS;
}

function portKey({ protocol = 'TCP', hostPort }: core.ContainerPort): string {
  return `${protocol} ${hostPort}`;
}
