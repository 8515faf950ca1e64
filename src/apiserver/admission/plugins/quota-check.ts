import { core, quota } from '#api';
import { Quantity } from '#machinery';

type Quota = core.ResourceQuota;
type Evaluator = quota.QuotaEvaluator;

/** A change that may consume quota. */
export interface Charge {
  readonly evaluator: Evaluator;
  readonly object: quota.Countable;
  /** The object before the change; undefined on create. */
  readonly old: quota.Countable | undefined;
  /** Status updates are counted, and never rejected. */
  readonly isStatus: boolean;
  readonly now: number;
}

/** A change that a quota does not allow. */
export class QuotaError extends Error {}

/** The usage of a quota after the change; undefined if the quota does not cover it. Throws a QuotaError if a limit would be exceeded. */
export function chargeQuota(resourceQuota: Quota, charge: Charge): quota.Amounts | undefined {
  const { evaluator, object } = charge;
  if (!applies(resourceQuota, evaluator, object)) return undefined;
  const name = resourceQuota.metadata.name ?? '';
  const hard = quota.amountsOf(resourceQuota.status?.hard);
  const used = quota.amountsOf(resourceQuota.status?.used);
  const restricted = evaluator.matching([...hard.keys()]);
  checkStated(name, restricted, charge);
  if (restricted.some((resource) => !used.has(resource))) {
    throw new QuotaError(`status unknown for quota: ${name}, resources: ${restricted.toSorted().join(',')}`);
  }
  const requested = new Map([...growth(resourceQuota, charge)].filter(([resource]) => hard.has(resource)));
  if (requested.size === 0) return undefined;
  const next = quota.addAmounts(used, requested);
  if (!charge.isStatus) checkExcess(name, { hard, used, requested, next });
  return next;
}

function applies({ spec = {}, status }: Quota, evaluator: Evaluator, object: quota.Countable): boolean {
  if (evaluator.matching(Object.keys(status?.hard ?? {})).length === 0) return false;
  return quota.scopeRequirements(spec).every((requirement) => evaluator.matchesScope(requirement, object));
}

/** The increase in usage. Decreases are not credited here: the quota controller recalculates them. */
function growth(resourceQuota: Quota, { evaluator, object, old, now }: Charge): quota.Amounts {
  const usage = evaluator.usage(object, now);
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([resource]) => resource);
  if (negative.length > 0) throw new QuotaError(`quota usage is negative for resource(s): ${negative.toSorted().join(',')}`);
  const before = old !== undefined && applies(resourceQuota, evaluator, old) ? evaluator.usage(old, now) : new Map<string, Quantity>();
  const grown = [...usage].map(([resource, amount]) => [resource, amount.sub(before.get(resource) ?? Quantity.zero)] as const);
  return new Map(grown.filter(([, amount]) => amount.sign > 0));
}

interface Balance {
  readonly hard: quota.Amounts;
  readonly used: quota.Amounts;
  readonly requested: quota.Amounts;
  readonly next: quota.Amounts;
}

function checkExcess(name: string, { hard, used, requested, next }: Balance): void {
  const exceeded = [...requested.keys()].filter((resource) => next.get(resource)!.compare(hard.get(resource)!) > 0).toSorted();
  if (exceeded.length === 0) return;
  const amountsText = (amounts: quota.Amounts) => exceeded.map((resource) => `${resource}=${amounts.get(resource)}`).join(',');
  throw new QuotaError(
    `exceeded quota: ${name}, requested: ${amountsText(requested)}, used: ${amountsText(used)}, limited: ${amountsText(hard)}`,
  );
}

/** Resources that every container must state once a quota limits them. */
const STATED: ReadonlySet<string> = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

function checkStated(name: string, restricted: readonly string[], { evaluator, object }: Charge): void {
  if (evaluator.group !== '' || evaluator.resource !== 'pods') return;
  const { spec } = object as core.Pod;
  if (spec?.resources && Object.keys({ ...spec.resources.requests, ...spec.resources.limits }).some(core.isPodLevelResource)) return;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const missing = restricted
    .filter((resource) => STATED.has(resource))
    .toSorted()
    .flatMap((resource) => {
      const names = containers.filter((container) => !states(container, resource)).map((container) => container.name);
      return names.length > 0 ? [`${resource} for: ${[...new Set(names)].toSorted().join(',')}`] : [];
    });
  if (missing.length > 0) throw new QuotaError(`failed quota: ${name}: must specify ${missing.join('; ')}`);
}

function states({ resources }: core.Container, resource: string): boolean {
  return quota.resourceUsage(quota.amountsOf(resources?.requests), quota.amountsOf(resources?.limits)).has(resource);
}
