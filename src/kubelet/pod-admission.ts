import { type core, quota } from '#api';
import { Quantity } from '#machinery';
import { matchesNode } from './node/node-affinity.ts';
import { isSidecar } from './pod-state.ts';
import type { PodVerdict } from './status/pod-status.ts';

export interface AdmissionFacts {
  readonly node: core.Node;
  /** The other pods that the node has taken and that are not over. */
  readonly others: readonly core.Pod[];
}

/** Why a node does not take a pod that is bound to it, or undefined. The first reason counts, in upstream's order. Pure. */
export function admissionProblem(pod: core.Pod, facts: AdmissionFacts): PodVerdict | undefined {
  return (
    osProblem(pod, facts) ??
    resourceProblem(pod, facts) ??
    affinityProblem(pod, facts) ??
    portProblem(pod, facts) ??
    taintProblem(pod, facts)
  );
}

function osProblem({ spec }: core.Pod, { node }: AdmissionFacts): PodVerdict | undefined {
  const os = node.status?.nodeInfo?.operatingSystem ?? 'linux';
  if (spec?.os === undefined || spec.os.name === os) return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function resourceProblem(pod: core.Pod, { node, others }: AdmissionFacts): PodVerdict | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const maxPods = Number(allocatable.pods ?? Infinity);
  if (others.length + 1 > maxPods) return outOf('pods', 1, others.length, maxPods);
  const wanted = podRequests(pod);
  for (const resource of ['cpu', 'memory', 'ephemeral-storage']) {
    const request = wanted.get(resource);
    const capacity = allocatable[resource];
    if (request === undefined || capacity === undefined || request.compare(Quantity.zero) === 0) continue;
    const used = others.reduce((sum, other) => sum.add(podRequests(other).get(resource) ?? Quantity.zero), Quantity.zero);
    if (used.add(request).compare(Quantity.parse(capacity)) <= 0) continue;
    const amount = (quantity: Quantity) => (resource === 'cpu' ? quantity.milliValue() : quantity.value());
    return outOf(resource, amount(request), amount(used), amount(Quantity.parse(capacity)));
  }
  return undefined;
}

function outOf(resource: string, requested: number, used: number, capacity: number): PodVerdict {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message };
}

function affinityProblem(pod: core.Pod, { node }: AdmissionFacts): PodVerdict | undefined {
  if (matchesNode(pod, node)) return undefined;
  return { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
}

function portProblem(pod: core.Pod, { others }: AdmissionFacts): PodVerdict | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = others.flatMap(hostPorts);
  if (!wanted.some((port) => taken.some((other) => collide(port, other)))) return undefined;
  return { reason: 'NodePorts', message: 'Predicate NodePorts failed' };
}

function taintProblem({ spec }: core.Pod, { node }: AdmissionFacts): PodVerdict | undefined {
  const harmful = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const isTolerated = (taint: core.Taint) => (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
  if (harmful.every(isTolerated)) return undefined;
  return { reason: 'TaintToleration', message: 'Predicate TaintToleration failed' };
}

function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: core.Toleration, taint: core.Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''));
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

/** Of every pod on a node, whenever another one comes. */
const requests = new WeakMap<core.PodSpec, Amounts>();

/** What a pod asks of a node by its spec, whatever it has at the moment. */
function podRequests({ metadata, spec }: core.Pod): Amounts {
  if (spec === undefined) return new Map();
  let amounts = requests.get(spec);
  if (amounts === undefined) {
    amounts = quota.podRequests({ metadata, spec });
    requests.set(spec, amounts);
  }
  return amounts;
}
