import { type core, type meta, policy } from '#api';
import { FieldError, isStatusReason, Path, type Status, StatusError, selectorFromObject } from '#machinery';
import { admissionChain } from '../../admission/admission.ts';
import { createdStatus } from '../../handlers/created-status.ts';
import { deleteObject } from '../../handlers/delete.ts';
import { checkedDeleteOptions, type DeleteOptions } from '../../handlers/delete-options.ts';
import type { ResourceCall } from '../../handlers/resource-call.ts';
import { updateObject } from '../../handlers/update-object.ts';
import type { WriteOptions } from '../../handlers/write-options.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import type { KubeObject } from '../kube-object.ts';
import type { ServedSubresource } from '../served-resource.ts';
import { disrupt, stillProcessing } from './disruption-budget.ts';
import { withPodCondition } from './pod-condition.ts';
import { readPosted } from './posted-object.ts';

type Pod = core.Pod;
type Budget = policy.PodDisruptionBudget;

const KIND = { group: 'policy', version: 'v1', kind: 'Eviction' };
const EVICTION = { ...KIND, apiVersion: 'policy/v1', alsoVersions: ['policy/v1beta1'], schema: policy.Eviction, custom: false };
const NO_ADMISSION = admissionChain([]);
const ATTEMPTS = 20;
const RETRY_MS = 500;
const INTERNAL: WriteOptions = { dryRun: false, fieldValidation: 'Ignore', fieldManager: 'kube-apiserver', raw: {} };

/** Deletes a pod, unless its disruption budget has none to spare. */
export const evictionSubresource: ServedSubresource = {
  name: 'eviction',
  kind: KIND,
  verbs: ['create'],
  callHandler: (call) => evict(call),
};

async function evict(call: ResourceCall): Promise<ApiResponse> {
  const posted = await readPosted(call, EVICTION);
  const { metadata, deleteOptions } = posted.object as unknown as policy.Eviction;
  if (metadata?.name !== call.name) throw StatusError.badRequest('name in URL does not match name in Eviction object');
  const options = deletion(call, deleteOptions ?? {}, posted.options);
  await posted.validate(posted.object);
  // Deleting what an eviction was admitted for is not admitted again.
  const quiet = { ...call, subresource: '', deps: { ...call.deps, admission: NO_ADMISSION } };
  const pod = await deleteUnguarded(quiet, options);
  if (pod === undefined) return createdStatus();
  const budgets = await budgetsOf(call, pod);
  if (budgets.length > 1) return severalBudgets();
  const guarded = budgets[0] && (await spend(call, pod, { budget: budgets[0], dryRun: options.dryRun }));
  await deleteGuarded(quiet, options, guarded ? { pod, budget: budgets[0]! } : undefined);
  return createdStatus();
}

function deletion(call: ResourceCall, given: meta.DeleteOptions, { raw }: WriteOptions): DeleteOptions {
  if (given.ignoreStoreReadErrorWithClusterBreakingPotential) {
    const path = Path.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential');
    const error = FieldError.invalid(path, true, 'can not be set for pod eviction, try after removing the option');
    throw StatusError.invalid(KIND, call.name, [error]);
  }
  const asked = (raw.dryRun ?? []) as readonly string[];
  const own = given.dryRun ?? [];
  if (own.length > 0 && asked.length > 0 && own.join() !== asked.join()) {
    throw new Error(`Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${own.join(' ')}]`);
  }
  return checkedDeleteOptions(own.length > 0 ? given : { ...given, dryRun: asked });
}

/** Deletes the pod if no budget can guard it; returns it when one may. */
async function deleteUnguarded(call: ResourceCall, options: DeleteOptions): Promise<Pod | undefined> {
  for (let attempt = 1; ; attempt++) {
    const pod = await currentPod(call);
    if (!isUnguarded(pod)) return pod;
    try {
      // What is still to start must not become healthy in between; what is over or going cannot.
      const pinned = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined;
      await markAndDelete(call, pinned ? pinnedTo(options, pod) : options);
      return undefined;
    } catch (error) {
      const again = isStatusReason(error, 'Conflict') && options.resourceVersion === undefined && attempt < ATTEMPTS;
      if (!again) throw error;
      await call.deps.clock.sleep(RETRY_MS, call.request.signal);
    }
  }
}

async function currentPod({ resource, namespace, name }: ResourceCall): Promise<Pod> {
  const found = await resource.storage!.get(namespace, name);
  if (found === undefined) throw StatusError.notFound({ group: '', resource: 'pods' }, name);
  return found.object as unknown as Pod;
}

function isUnguarded({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');
}

function pinnedTo(options: DeleteOptions, { metadata }: Pod): DeleteOptions {
  return { ...options, resourceVersion: options.resourceVersion ?? metadata.resourceVersion };
}

async function budgetsOf({ deps, namespace }: ResourceCall, { metadata }: Pod): Promise<readonly Budget[]> {
  const storage = deps.table.find('policy', 'v1', 'poddisruptionbudgets')!.storage!;
  await storage.cache.fresh();
  const budgets = [...storage.cache.objects(storage.prefixOf(namespace))].map(({ object }) => object as unknown as Budget);
  return budgets.filter(({ spec }) => selectorFromObject(spec?.selector).matches(metadata.labels ?? {}));
}

function severalBudgets(): ApiResponse {
  const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
  return { type: 'plain', code: 500, object: { ...status } };
}

interface Spending {
  readonly budget: Budget;
  readonly dryRun: boolean;
}

/** Takes the eviction from the budget. True when nothing was taken because the pod, not being healthy, does not count. */
async function spend(call: ResourceCall, pod: Pod, { budget, dryRun }: Spending): Promise<boolean> {
  if (!isReady(pod) && mayGoUnhealthy(budget)) return true;
  const { deps } = call;
  if (dryRun) {
    disrupt(budget, call.name, deps.clock.now());
    return false;
  }
  const resource = deps.table.find('policy', 'v1', 'poddisruptionbudgets')!;
  const own = { ...call, resource, subresource: 'status', name: budget.metadata.name! };
  // When another eviction comes first, the budget is looked at anew.
  await updateObject(own, {
    options: INTERNAL,
    compute: (live) => disrupt(live as unknown as Budget, call.name, deps.clock.now()) as unknown as KubeObject,
  });
  return false;
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}

function mayGoUnhealthy({ spec, status }: Budget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const desired = status?.desiredHealthy ?? 0;
  return desired > 0 && (status?.currentHealthy ?? 0) >= desired;
}

async function deleteGuarded(call: ResourceCall, options: DeleteOptions, unhealthy: { pod: Pod; budget: Budget } | undefined) {
  if (unhealthy === undefined) return markAndDelete(call, options);
  try {
    await markAndDelete(call, { ...options, resourceVersion: unhealthy.pod.metadata.resourceVersion });
  } catch (error) {
    // It may have become healthy in between: the client is to try again.
    if (isStatusReason(error, 'Conflict') && options.resourceVersion === undefined) throw stillProcessing(unhealthy.budget);
    throw error;
  }
}

/** Notes in the pod's status why it goes, then deletes it. */
async function markAndDelete(call: ResourceCall, options: DeleteOptions): Promise<void> {
  if (options.dryRun) {
    await deleteObject(call, options);
    return;
  }
  const now = call.deps.clock.now();
  const { object } = await updateObject(
    { ...call, subresource: 'status' },
    {
      options: INTERNAL,
      compute: (live) => {
        checkPreconditions(live, options);
        return { ...live, status: withPodCondition((live.status ?? {}) as core.PodStatus, EVICTED, now) };
      },
    },
  );
  const { resourceVersion } = object.object.metadata;
  await deleteObject(call, options.resourceVersion === undefined ? options : { ...options, resourceVersion });
}

const EVICTED = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };

function checkPreconditions({ metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const refuse = (why: string) => StatusError.conflict({ group: '', resource: 'Pod' }, metadata.name, why);
  if (uid && uid !== metadata.uid) {
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}
