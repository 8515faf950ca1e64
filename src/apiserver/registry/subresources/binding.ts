import { core } from '#api';
import { aggregateFieldErrors, goQuote, nameIsPathSegment, StatusError } from '#machinery';
import { createdStatus } from '../../handlers/created-status.ts';
import type { ResourceCall } from '../../handlers/resource-call.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import type { KubeObject } from '../kube-object.ts';
import type { ResourceStorage } from '../resource-storage.ts';
import type { ServedSubresource } from '../served-resource.ts';
import { withPodCondition } from './pod-condition.ts';
import { readPosted } from './posted-object.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding', apiVersion: 'v1', schema: core.Binding, custom: false };
const PODS = { group: '', resource: 'pods' };

/** Assigns a pod to a node: what schedulers post. */
export const bindingSubresource: ServedSubresource = {
  name: 'binding',
  kind: BINDING,
  verbs: ['create'],
  callHandler: (call) => bindPod(call),
};

/** The same for `bindings`, where the pod is named in the body alone. */
export async function bindPod(call: ResourceCall): Promise<ApiResponse> {
  const posted = await readPosted(call, BINDING);
  const binding = posted.object as unknown as core.Binding;
  const name = binding.metadata.name ?? '';
  if (call.name && name !== call.name) throw StatusError.badRequest('name in URL does not match name in Binding object');
  const errors = core.validateBinding(binding);
  // Upstream wraps these in no Status of their own: clients see a 500 without a reason.
  if (errors.length > 0) throw new Error(aggregateFieldErrors(errors));
  await posted.validate(posted.object);
  checkName(name);
  await assign(call, binding, posted.options.dryRun);
  return createdStatus();
}

/** A body may name what no URL could. */
function checkName(name: string): void {
  if (name === '') throw StatusError.badRequest('Name parameter required.');
  const problems = nameIsPathSegment(name, false);
  if (problems.length > 0) throw StatusError.badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}

async function assign({ namespace, deps }: ResourceCall, binding: core.Binding, dryRun: boolean): Promise<void> {
  const storage = deps.table.find('', 'v1', 'pods')!.storage!;
  const name = binding.metadata.name!;
  for (;;) {
    const current = await storage.get(namespace, name);
    if (current === undefined) throw StatusError.notFound(PODS, name);
    const pod = current.object as unknown as core.Pod;
    checkPreconditions(binding, pod, storage);
    checkAssignable(pod);
    if (dryRun) return;
    if ((await storage.update(current, assigned(pod, binding, deps.clock.now()))) !== undefined) return;
  }
}

function checkPreconditions({ metadata }: core.Binding, pod: core.Pod, storage: ResourceStorage): void {
  const { namespace = '', name = '' } = pod.metadata;
  for (const [label, wanted, actual] of [
    ['UID', metadata.uid, pod.metadata.uid],
    ['ResourceVersion', metadata.resourceVersion, pod.metadata.resourceVersion],
  ]) {
    if (!wanted || wanted === actual) continue;
    const failure = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${actual}`;
    const where = `StorageError: invalid object, Code: 4, Key: ${storage.keyOf(namespace, name)}, ResourceVersion: 0`;
    throw StatusError.conflict(PODS, name, `${where}, AdditionalErrorMsg: ${failure}`);
  }
}

function checkAssignable({ metadata, spec }: core.Pod): void {
  const name = metadata.name ?? '';
  const refuse = (why: string) => StatusError.conflict({ group: '', resource: 'pods/binding' }, name, why);
  if (metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec?.nodeName) throw refuse(`pod ${name} is already assigned to node "${spec.nodeName}"`);
  if (spec?.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
}

/** The pod on its node, with what the binding tells about it; a nomination for another node is spent. */
function assigned(pod: core.Pod, { metadata, target }: core.Binding, now: number): KubeObject {
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  const labels = { ...pod.metadata.labels, ...metadata.labels };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec: { ...pod.spec!, nodeName: target.name! },
    status: withPodCondition(status, { type: 'PodScheduled', status: 'True' }, now),
  } as unknown as KubeObject;
}
