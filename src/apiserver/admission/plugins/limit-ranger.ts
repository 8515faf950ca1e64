import { type core, quota } from '#api';
import { type MaybePromise, mapMaybePromise, mergeAll } from '#base';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type Constraint, type Demand, maxConstraint, maxRequestConstraint, minConstraint, ratioConstraint } from './limit-constraints.ts';
import { type PluginDeps, pluginForbiddenError, readObjects } from './plugin-deps.ts';

type LimitRange = core.LimitRange;
type LimitRangeItem = core.LimitRangeItem;
type Resources = Readonly<Record<string, string>>;

const LIMIT_RANGES = { group: '', resource: 'limitranges' };
const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Enforces LimitRanges on pods and claims, and sets default requests and limits of containers. */
export function limitRanger(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'persistentvolumeclaims'],
    admit: (attributes) => {
      if (!isBounded(attributes) || attributes.resource.resource !== 'pods') return undefined;
      return mapMaybePromise(rangesFor(attributes, deps), (ranges) => ranges.reduce(withDefaults, attributes.object as core.Pod));
    },
    validate: (attributes) => {
      if (!isBounded(attributes)) return undefined;
      return mapMaybePromise(rangesFor(attributes, deps), (ranges) => {
        for (const range of ranges) checkViolations(attributes, range);
      });
    },
  };
}

function checkViolations(attributes: AdmissionAttributes, range: LimitRange): void {
  const problems = [...new Set(violations(attributes, range))];
  if (problems.length > 0) throw pluginForbiddenError(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
}

/** Containers of an existing pod change only through its `resize` subresource. */
function isBounded({ resource, subresource, operation, oldObject }: AdmissionAttributes): boolean {
  if (resource.group !== '' || (oldObject as core.Pod | undefined)?.metadata.deletionTimestamp) return false;
  if (resource.resource === 'persistentvolumeclaims') return subresource === '';
  return resource.resource === 'pods' && (operation === 'CREATE' ? subresource === '' : subresource === 'resize');
}

function rangesFor({ namespace }: AdmissionAttributes, deps: PluginDeps): MaybePromise<readonly LimitRange[]> {
  return readObjects(deps, LIMIT_RANGES, namespace) as unknown as MaybePromise<readonly LimitRange[]>;
}

function withDefaults(pod: core.Pod, { spec }: LimitRange): core.Pod {
  const items = (spec?.limits ?? []).filter(({ type }) => type === 'Container');
  const limits: Resources = mergeAll(items.map((item) => item.default));
  const requests: Resources = mergeAll(items.map(({ defaultRequest }) => defaultRequest));
  const notes: string[] = [];
  const fill = (containerType: string) => (container: core.Container) => filled(container, { limits, requests, containerType, notes });
  const containers = (pod.spec?.containers ?? []).map(fill('container'));
  const initContainers = pod.spec?.initContainers?.map(fill('init container'));
  if (notes.length === 0) return pod;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` };
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec!, containers, ...(initContainers && { initContainers }) },
  };
}

interface ResourceDefaults {
  readonly limits: Resources;
  readonly requests: Resources;
  readonly containerType: string;
  /** Collects what was set, for the annotation. */
  readonly notes: string[];
}

function filled(container: core.Container, { limits, requests, containerType, notes }: ResourceDefaults): core.Container {
  const own = container.resources ?? {};
  const missing = (defaults: Resources, resources: Resources = {}) =>
    Object.keys(defaults).filter((name) => !Object.hasOwn(resources, name));
  const setRequests = missing(requests, own.requests).toSorted();
  const setLimits = missing(limits, own.limits).toSorted();
  if (setRequests.length > 0) notes.push(`${setRequests.join(', ')} request for ${containerType} ${container.name}`);
  if (setLimits.length > 0) notes.push(`${setLimits.join(', ')} limit for ${containerType} ${container.name}`);
  if (setRequests.length + setLimits.length === 0) return container;
  const resources = {
    ...own,
    ...(setLimits.length > 0 && { limits: { ...limits, ...own.limits } }),
    ...(setRequests.length > 0 && { requests: { ...requests, ...own.requests } }),
  };
  return { ...container, resources };
}

function violations({ resource, object }: AdmissionAttributes, { spec }: LimitRange): readonly string[] {
  const items = spec?.limits ?? [];
  if (resource.resource === 'persistentvolumeclaims') return claimViolations(object as core.PersistentVolumeClaim, items);
  return podViolations(object as core.Pod, items);
}

function claimViolations({ spec }: core.PersistentVolumeClaim, items: readonly LimitRangeItem[]): readonly string[] {
  const demand = { requests: quota.amountsOf(spec?.resources?.requests), limits: new Map() };
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...problems({ type, bounds: min, constraint: minConstraint }, demand),
      ...problems({ type, bounds: max, constraint: maxRequestConstraint }, demand),
    ]);
}

function podViolations(pod: core.Pod, items: readonly LimitRangeItem[]): readonly string[] {
  return items.flatMap((item) => {
    if (item.type === 'Container') return containersOf(pod).flatMap((container) => broken(item, containerDemand(container)));
    return item.type === 'Pod' ? broken(item, podDemand(pod)) : [];
  });
}

function containersOf({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

function containerDemand({ resources }: core.Container): Demand {
  return { requests: quota.amountsOf(resources?.requests), limits: quota.amountsOf(resources?.limits) };
}

/** Computed from the spec only: LimitRanges ignore allocated resources and overhead. */
function podDemand({ metadata, spec }: core.Pod): Demand {
  const { overhead: _, ...rest } = spec!;
  const bare = { metadata, spec: rest } as core.Pod;
  return { requests: quota.podRequests(bare), limits: quota.podLimits(bare) };
}

function broken({ type, min, max, maxLimitRequestRatio }: LimitRangeItem, demand: Demand): readonly string[] {
  return [
    ...problems({ type, bounds: min, constraint: minConstraint }, demand),
    ...problems({ type, bounds: max, constraint: maxConstraint }, demand),
    ...problems({ type, bounds: maxLimitRequestRatio, constraint: ratioConstraint }, demand),
  ];
}

interface Bounds {
  readonly type: string;
  readonly bounds: Resources | undefined;
  readonly constraint: Constraint;
}

function problems({ type, bounds, constraint }: Bounds, demand: Demand): readonly string[] {
  const amounts = [...quota.amountsOf(bounds)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return amounts.flatMap(([resource, enforced]) => constraint({ type, resource, enforced }, demand) ?? []);
}
