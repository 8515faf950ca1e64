import { core } from '#api';
import { aggregateFieldErrors, StatusError } from '#machinery';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import { updateObject } from '../../registry/generic/update-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ApiResponse } from '../api-response.ts';
import { createdStatus } from '../created-status.ts';
import type { HandledSubresource } from '../handler-table.ts';
import { objectWrite } from '../object-write.ts';
import { checkPathName, type ResourceCall } from '../resource-call.ts';
import type { WriteOptions } from '../write-options.ts';
import { withPodCondition } from './pod-condition.ts';
import { readPostedObject } from './posted-object.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding', apiVersion: 'v1', schema: core.Binding, custom: false };
const PODS = { group: '', resource: 'pods' };

/** Assigns a pod to a node: what schedulers post. */
export const bindingSubresource: HandledSubresource = {
  name: 'binding',
  kind: BINDING,
  verbs: ['create'],
  handler: (call) => bindPod(call),
};

/** The same for `bindings`, where the pod is named in the body alone. */
export async function bindPod(call: ResourceCall<ServedResource>): Promise<ApiResponse> {
  const posted = await readPostedObject(call, BINDING);
  const binding = posted.object as unknown as core.Binding;
  const name = binding.metadata.name ?? '';
  if (call.name && name !== call.name) throw StatusError.badRequest('name in URL does not match name in Binding object');
  const errors = core.validateBinding(binding);
  // Upstream wraps these in no Status of their own: clients see a 500 without a reason.
  if (errors.length > 0) throw new Error(aggregateFieldErrors(errors));
  await posted.validate(posted.object);
  checkName(name);
  await assign(call, binding, posted.options);
  return createdStatus();
}

/** The name comes from the body, which may hold names that no URL could. */
function checkName(name: string): void {
  if (name === '') throw StatusError.badRequest('Name parameter required.');
  checkPathName(name);
}

async function assign(call: ResourceCall<ServedResource>, binding: core.Binding, options: WriteOptions): Promise<void> {
  const { deps } = call;
  const resource = deps.table.stored('', 'v1', 'pods');
  const write = objectWrite({ ...call, resource, subresource: 'binding', name: binding.metadata.name! });
  await updateObject(write, {
    options,
    isInternal: true,
    compute: (live) => {
      const pod = live as unknown as core.Pod;
      checkPreconditions(binding, pod, resource.storage);
      checkAssignable(pod);
      return assigned(pod, binding, deps.clock.now());
    },
  });
}

function checkPreconditions({ metadata }: core.Binding, pod: core.Pod, storage: ResourceStorage): void {
  const { namespace = '', name = '' } = pod.metadata;
  for (const [label, expected, actual] of [
    ['UID', metadata.uid, pod.metadata.uid],
    ['ResourceVersion', metadata.resourceVersion, pod.metadata.resourceVersion],
  ]) {
    if (!expected || expected === actual) continue;
    const failure = `Precondition failed: ${label} in precondition: ${expected}, ${label} in object meta: ${actual}`;
    const where = `StorageError: invalid object, Code: 4, Key: ${storage.keyOf(namespace, name)}, ResourceVersion: 0`;
    throw StatusError.conflict(PODS, name, `${where}, AdditionalErrorMsg: ${failure}`);
  }
}

function checkAssignable({ metadata, spec }: core.Pod): void {
  const name = metadata.name ?? '';
  const conflict = (detail: string) => StatusError.conflict({ group: '', resource: 'pods/binding' }, name, detail);
  if (metadata.deletionTimestamp) throw conflict(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec?.nodeName) throw conflict(`pod ${name} is already assigned to node "${spec.nodeName}"`);
  if (spec?.schedulingGates?.length) throw conflict(`pod ${name} has non-empty .spec.schedulingGates`);
}

/** The pod on its node, with the binding's labels and annotations; the nomination is cleared. */
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
