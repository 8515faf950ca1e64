import { type core, type meta, policy } from '#api';
import { FieldError, isStatusReason, Path, type Status, StatusError, selectorFromObject } from '#machinery';
import { admissionChain } from '../../admission/admission.ts';
import { type DeleteOptions, deleteObject } from '../../registry/generic/delete-object.ts';
import { updateObject } from '../../registry/generic/update-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ApiResponse } from '../api-response.ts';
import { createdStatus } from '../created-status.ts';
import { checkedDeleteOptions } from '../delete-options.ts';
import type { HandledSubresource } from '../handler-table.ts';
import { objectWrite } from '../object-write.ts';
import type { ResourceCall } from '../resource-call.ts';
import type { WriteOptions } from '../write-options.ts';
import { consumeDisruption, stillProcessing } from './disruption-budget.ts';
import { withPodCondition } from './pod-condition.ts';
import { readPostedObject } from './posted-object.ts';

type Pod = core.Pod;
type Budget = policy.PodDisruptionBudget;

const KIND = { group: 'policy', version: 'v1', kind: 'Eviction' };
const EVICTION = { ...KIND, apiVersion: 'policy/v1', alsoVersions: ['policy/v1beta1'], schema: policy.Eviction, custom: false };
const NO_ADMISSION = admissionChain([]);
const ATTEMPTS = 20;
const RETRY_MS = 500;
const INTERNAL: WriteOptions = { dryRun: false, fieldValidation: 'Ignore', fieldManager: 'kube-apiserver', raw: {} };

/** Evicts a pod if its disruption budget allows it. */
export const evictionSubresource: HandledSubresource = {
  name: 'eviction',
  kind: KIND,
  verbs: ['create'],
  handler: (call) => evict(call),
};

async function evict(call: ResourceCall): Promise<ApiResponse> {
  const posted = await readPostedObject(call, EVICTION);
  const { metadata, deleteOptions } = posted.object as unknown as policy.Eviction;
  if (metadata?.name !== call.name) throw StatusError.badRequest('name in URL does not match name in Eviction object');
  const options = deletion(call, deleteOptions ?? {}, posted.options);
  await posted.validate(posted.object);
  // The eviction was admitted: its deletion is not admitted again.
  const quiet = { ...call, subresource: '', deps: { ...call.deps, admission: NO_ADMISSION } };
  const pod = await deleteUnguarded(quiet, options);
  if (pod === undefined) return createdStatus();
  const budgets = await budgetsOf(call, pod);
  if (budgets.length > 1) return severalBudgets();
  const guarded = budgets[0] && (await spend(call, pod, { budget: budgets[0], dryRun: options.dryRun }));
  await deleteGuarded(quiet, options, guarded ? { pod, budget: budgets[0]! } : undefined);
  return createdStatus();
}

function deletion(call: ResourceCall, options: meta.DeleteOptions, { raw }: WriteOptions): DeleteOptions {
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential) {
    const path = Path.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential');
    const error = FieldError.invalid(path, true, 'can not be set for pod eviction, try after removing the option');
    throw StatusError.invalid(KIND, call.name, [error]);
  }
  const dryRun = (raw.dryRun ?? []) as readonly string[];
  const own = options.dryRun ?? [];
  if (own.length > 0 && dryRun.length > 0 && own.join() !== dryRun.join()) {
    throw new Error(`Non-matching dry-run options in request and content: [${dryRun.join(' ')}] and [${own.join(' ')}]`);
  }
  return checkedDeleteOptions(own.length > 0 ? options : { ...options, dryRun: dryRun });
}

/** Deletes the pod if no budget covers it; otherwise returns it. */
async function deleteUnguarded(call: ResourceCall, options: DeleteOptions): Promise<Pod | undefined> {
  for (let attempt = 1; ; attempt++) {
    const pod = await currentPod(call);
    if (!isUnguarded(pod)) return pod;
    try {
      // A pending pod must not become ready in between; finished and terminating ones cannot.
      const pinned = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined;
      await markAndDelete(call, pinned ? pinnedTo(options, pod) : options);
      return undefined;
    } catch (error) {
      const shouldRetry = isStatusReason(error, 'Conflict') && options.resourceVersion === undefined && attempt < ATTEMPTS;
      if (!shouldRetry) throw error;
      await call.deps.clock.sleep(RETRY_MS, call.request.signal);
    }
  }
}

async function currentPod({ resource, namespace, name }: ResourceCall): Promise<Pod> {
  const cached = await resource.storage.get(namespace, name);
  if (cached === undefined) throw StatusError.notFound({ group: '', resource: 'pods' }, name);
  return cached.object as unknown as Pod;
}

function isUnguarded({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');
}

function pinnedTo(options: DeleteOptions, { metadata }: Pod): DeleteOptions {
  return { ...options, resourceVersion: options.resourceVersion ?? metadata.resourceVersion };
}

async function budgetsOf({ deps, namespace }: ResourceCall, { metadata }: Pod): Promise<readonly Budget[]> {
  const storage = deps.table.storage('policy', 'v1', 'poddisruptionbudgets');
  await storage.cache.fresh();
  const budgets = [...storage.cache.objects(storage.prefixOf(namespace))].map(({ object }) => object as unknown as Budget);
  return budgets.filter(({ spec }) => selectorFromObject(spec?.selector).matches(metadata.labels ?? {}));
}

function severalBudgets(): ApiResponse {
  const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
  return { type: 'plain', code: 500, object: { ...status } };
}

interface BudgetUse {
  readonly budget: Budget;
  readonly dryRun: boolean;
}

/** Takes the eviction from the budget. True if nothing was taken because an unready pod does not count. */
async function spend(call: ResourceCall, pod: Pod, { budget, dryRun }: BudgetUse): Promise<boolean> {
  if (!isReady(pod) && mayGoUnhealthy(budget)) return true;
  const { deps } = call;
  if (dryRun) {
    consumeDisruption(budget, call.name, deps.clock.now());
    return false;
  }
  const resource = deps.table.stored('policy', 'v1', 'poddisruptionbudgets');
  const own = { ...call, resource, subresource: 'status', name: budget.metadata.name! };
  // Conflicts with other evictions are retried.
  await updateObject(objectWrite(own), {
    options: INTERNAL,
    compute: (live) => consumeDisruption(live as unknown as Budget, call.name, deps.clock.now()) as unknown as KubeObject,
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
    // It may have become healthy in between: the client must retry.
    if (isStatusReason(error, 'Conflict') && options.resourceVersion === undefined) throw stillProcessing(unhealthy.budget);
    throw error;
  }
}

/** Sets the DisruptionTarget condition, then deletes the pod. */
async function markAndDelete(call: ResourceCall, options: DeleteOptions): Promise<void> {
  if (options.dryRun) {
    await deleteObject(objectWrite(call), options);
    return;
  }
  const now = call.deps.clock.now();
  const { object } = await updateObject(objectWrite({ ...call, subresource: 'status' }), {
    options: INTERNAL,
    compute: (live) => {
      checkPreconditions(live, options);
      return { ...live, status: withPodCondition((live.status ?? {}) as core.PodStatus, EVICTED, now) };
    },
  });
  const { resourceVersion } = object.object.metadata;
  await deleteObject(objectWrite(call), options.resourceVersion === undefined ? options : { ...options, resourceVersion });
}

const EVICTED = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };

function checkPreconditions({ metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const conflict = (detail: string) => StatusError.conflict({ group: '', resource: 'Pod' }, metadata.name, detail);
  if (uid && uid !== metadata.uid) {
    throw conflict(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}
