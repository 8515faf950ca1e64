import { core, quota } from '#api';
import { Quantity } from '#machinery';
import { pressureProblem } from '../eviction/admission.ts';
import type { NodePressure } from '../node/node-pressure.ts';
import type { PodRejection } from '../status/pod-status.ts';
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
  /** Whether the machine enforces AppArmor profiles. Absent: it does. */
  readonly hasAppArmor?: boolean;
}

/** Why the node rejects a pod, or undefined. The first reason wins, in upstream's order. Pure. */
export function admissionProblem(pod: core.Pod, facts: AdmissionFacts): PodRejection | undefined {
  return (
    (facts.pressure && pressureProblem(pod, facts.pressure)) ??
    sysctlProblem(pod, facts.allowedUnsafeSysctls ?? []) ??
    osProblem(pod, facts) ??
    resourceProblem(pod, facts) ??
    affinityProblem(pod, facts) ??
    portProblem(pod, facts) ??
    taintProblem(pod, facts) ??
    appArmorProblem(pod, facts)
  );
}

function osProblem({ spec }: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  const os = node.status?.nodeInfo?.operatingSystem ?? 'linux';
  if (spec?.os === undefined || spec.os.name === os) return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function resourceProblem(pod: core.Pod, { node, others }: AdmissionFacts): PodRejection | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const maxPods = Number(allocatable.pods ?? Infinity);
  if (others.length + 1 > maxPods) return outOf('pods', 1, others.length, maxPods);
  const requests = podRequests(pod);
  const pages = [...requests.keys()].filter((name) => name.startsWith('hugepages-'));
  for (const resource of ['cpu', 'memory', 'ephemeral-storage', ...pages]) {
    const request = requests.get(resource);
    const capacity = allocatable[resource] ?? (resource.startsWith('hugepages-') ? '0' : undefined);
    if (request === undefined || capacity === undefined || request.compare(Quantity.zero) === 0) continue;
    const used = others.reduce((sum, other) => sum.add(podRequests(other).get(resource) ?? Quantity.zero), Quantity.zero);
    if (used.add(request).compare(Quantity.parse(capacity)) <= 0) continue;
    const amount = (quantity: Quantity) => (resource === 'cpu' ? quantity.milliValue() : quantity.value());
    return outOf(resource, amount(request), amount(used), amount(Quantity.parse(capacity)));
  }
  return undefined;
}

function outOf(resource: string, requested: number, used: number, capacity: number): PodRejection {
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
  const portsInUse = others.flatMap(hostPorts);
  if (!ports.some((port) => portsInUse.some((other) => collide(port, other)))) return undefined;
  return { reason: 'NodePorts', message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" };
}

function taintProblem({ spec }: core.Pod, { node }: AdmissionFacts): PodRejection | undefined {
  const harmful = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  if (harmful.every((taint) => core.isTaintTolerated(spec?.tolerations ?? [], taint))) return undefined;
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

function collide(a: core.ContainerPort, b: core.ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || (a.protocol ?? 'TCP') !== (b.protocol ?? 'TCP')) return false;
  const [left, right] = [a.hostIP || '0.0.0.0', b.hostIP || '0.0.0.0'];
  return left === right || left === '0.0.0.0' || right === '0.0.0.0';
}

type Amounts = ReadonlyMap<string, Quantity>;

/** Cached: needed for every pod of the node at each admission. */
const requests = new WeakMap<core.PodSpec, Amounts>();

/** A pod's requests by its spec, regardless of pending resizes. */
function podRequests({ metadata, spec }: core.Pod): Amounts {
  if (spec === undefined) return new Map();
  let amounts = requests.get(spec);
  if (amounts === undefined) {
    amounts = quota.podRequests({ metadata, spec });
    requests.set(spec, amounts);
  }
  return amounts;
}
