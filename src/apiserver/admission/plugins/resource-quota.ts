import { core, quota, type resource } from '#api';
import { mapMaybePromise } from '#base';
import { formatTime, StatusError, updateManagedFields } from '#machinery';
import type { CachedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObjects, storageOf } from './plugin-deps.ts';
import { type Charge, chargeQuota, QuotaError } from './quota-check.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };
const EXTENDED_RESOURCE_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';
/** Retries after conflicts on a ResourceQuota. */
const ATTEMPTS = 10;

/** Rejects requests that would exceed a quota, and records their usage before they are stored. */
export function resourceQuota(deps: PluginDeps): AdmissionPlugin {
  const turns = new NamespaceQueue();
  return {
    name: 'ResourceQuota',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { namespace, resource: served } = attributes;
      if (namespace === '' || !served.namespaced || !quota.isQuotable(served)) return undefined;
      // Most namespaces have no quota.
      return mapMaybePromise(readObjects(deps, QUOTAS, namespace), (quotas) =>
        quotas.length === 0 ? undefined : count(attributes, turns, deps),
      );
    },
  };
}

async function count(attributes: AdmissionAttributes, turns: NamespaceQueue, deps: PluginDeps): Promise<void> {
  const charge = await chargeOf(attributes, deps);
  if (charge !== undefined) await turns.take(attributes.namespace, () => charged(attributes, charge, deps));
}

/** Serializes the requests of a namespace in this process, so that they do not overwrite each other's usage. */
class NamespaceQueue {
  readonly #last = new Map<string, Promise<void>>();

  async take(namespace: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(namespace) ?? Promise.resolve();
    const turn = before.then(work);
    const settled = turn.catch(() => {});
    this.#last.set(namespace, settled);
    try {
      await turn;
    } finally {
      if (this.#last.get(namespace) === settled) this.#last.delete(namespace);
    }
  }
}

async function charged(attributes: AdmissionAttributes, charge: Charge, deps: PluginDeps): Promise<void> {
  const storage = storageOf(deps, QUOTAS);
  let names: ReadonlySet<string> | undefined;
  for (let attempt = 1; ; attempt++) {
    await storage.cache.fresh();
    const quotas = [...storage.cache.objects(storage.prefixOf(attributes.namespace))];
    const matching = quotas.filter(({ object }) => names === undefined || names.has(object.metadata.name));
    const conflicting = await writeAll(attributes, checked(attributes, matching, charge), deps);
    if (conflicting.length === 0) return;
    // The other quotas are updated already.
    names = new Set(conflicting);
    if (attempt >= ATTEMPTS) throw conflict(conflicting[0]!);
  }
}

function conflict(name: string): StatusError {
  const detail = 'the object has been modified; please apply your changes to the latest version and try again';
  return StatusError.conflict(QUOTAS, name, detail);
}

interface CountedQuota {
  readonly current: CachedObject;
  readonly used: quota.Amounts;
}

/** The updated quotas. Throws if one of them would be exceeded. */
function checked(attributes: AdmissionAttributes, quotas: readonly CachedObject[], charge: Charge): readonly CountedQuota[] {
  try {
    return quotas.flatMap((current) => {
      const used = chargeQuota(current.object as unknown as core.ResourceQuota, charge);
      return used === undefined ? [] : [{ current, used }];
    });
  } catch (error) {
    if (error instanceof QuotaError) throw pluginForbiddenError(attributes, error.message);
    throw error;
  }
}

/** Returns the names of quotas that had conflicting writes. */
async function writeAll({ dryRun }: AdmissionAttributes, counted: readonly CountedQuota[], deps: PluginDeps): Promise<readonly string[]> {
  if (dryRun) return [];
  const conflicting: string[] = [];
  for (const { current, used } of counted) {
    const written = await storageOf(deps, QUOTAS).update(current, withUsed(current.object, used, deps.clock.now()));
    if (written === undefined) conflicting.push(current.object.metadata.name);
  }
  return conflicting;
}

function withUsed(live: KubeObject, used: quota.Amounts, now: number): KubeObject {
  const updated: KubeObject = { ...live, status: { ...(live.status as object), used: quota.listOfAmounts(used) } };
  return updateManagedFields({
    schema: core.ResourceQuota,
    apiVersion: 'v1',
    live,
    updated,
    manager: 'kube-apiserver',
    subresource: 'status',
    now: formatTime(now),
    resetFields: [['spec']],
  });
}

async function chargeOf(attributes: AdmissionAttributes, deps: PluginDeps): Promise<Charge | undefined> {
  if (!isCharged(attributes)) return undefined;
  const { object, oldObject, subresource } = attributes;
  return {
    evaluator: await evaluatorFor(attributes, deps),
    object: object as quota.Countable,
    old: oldObject as quota.Countable | undefined,
    isStatus: subresource === 'status',
    now: deps.clock.now(),
  };
}

/** Whether such a change can consume quota. */
function isCharged({ resource: { group, resource: name }, subresource, operation, object, oldObject }: AdmissionAttributes): boolean {
  switch (`${group}/${name}`) {
    case '/pods':
      if (subresource === 'resize') return operation === 'UPDATE';
      if (subresource !== '') return false;
      return operation === 'CREATE' || quota.isTerminating(object as core.Pod) !== quota.isTerminating(oldObject as core.Pod);
    case '/persistentvolumeclaims':
      return subresource === '' || (subresource === 'status' && claimGrew(object, oldObject));
    case '/services':
    case 'resource.k8s.io/resourceclaims':
      return subresource === '';
    default:
      return subresource === '' && operation === 'CREATE';
  }
}

function claimGrew(object: unknown, old: unknown): boolean {
  return quota.volumeClaimEvaluator.changesUsage(old as core.PersistentVolumeClaim, object as core.PersistentVolumeClaim, 0);
}

async function evaluatorFor(attributes: AdmissionAttributes, deps: PluginDeps): Promise<quota.QuotaEvaluator> {
  const { resource: served } = attributes;
  switch (`${served.group}/${served.resource}`) {
    case '/pods':
      return quota.podEvaluator as unknown as quota.QuotaEvaluator;
    case '/services':
      return quota.serviceEvaluator as unknown as quota.QuotaEvaluator;
    case '/persistentvolumeclaims':
      return quota.volumeClaimEvaluator as unknown as quota.QuotaEvaluator;
    case 'resource.k8s.io/resourceclaims':
      return quota.deviceClaimEvaluator(await deviceLookup(attributes, deps)) as unknown as quota.QuotaEvaluator;
    default:
      return quota.objectCountEvaluator(served);
  }
}

/** DeviceClasses and the owning pod, which the usage of resource claims depends on. */
async function deviceLookup({ namespace }: AdmissionAttributes, deps: PluginDeps): Promise<quota.DeviceLookup> {
  const place = { group: 'resource.k8s.io', resource: 'deviceclasses' };
  const classes = (await readObjects(deps, place)) as unknown as readonly resource.DeviceClass[];
  const pods = (await readObjects(deps, { group: '', resource: 'pods' }, namespace)) as unknown as readonly core.Pod[];
  return {
    extendedResourceOf: (name) => classes.find(({ metadata }) => metadata.name === name)?.spec?.extendedResourceName,
    deviceClassOf: (name) => classes.find(({ spec }) => spec?.extendedResourceName === name)?.metadata.name,
    podUsageFor: (claim) => podUsage(claim, pods, deps.clock.now()),
  };
}

function podUsage({ metadata }: resource.ResourceClaim, pods: readonly core.Pod[], now: number): quota.Amounts | undefined {
  const owner = metadata.ownerReferences?.find(({ controller, kind, apiVersion }) => controller && kind === 'Pod' && apiVersion === 'v1');
  if (metadata.annotations?.[EXTENDED_RESOURCE_ANNOTATION] !== 'true' || owner === undefined) return undefined;
  const pod = pods.find((candidate) => candidate.metadata.uid === owner.uid);
  const extendedClaim = pod?.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (pod === undefined || (extendedClaim !== undefined && extendedClaim !== metadata.name)) return undefined;
  return quota.podEvaluator.usage(pod, now);
}
