import { core, quota } from '#api';
import { Quantity } from '#machinery';

type Quota = core.ResourceQuota;
type Evaluator = quota.QuotaEvaluator;

/** A change that may use up what quotas cap. */
export interface Charge {
  readonly evaluator: Evaluator;
  readonly object: quota.Countable;
  /** What there was before, when there was something. */
  readonly old: quota.Countable | undefined;
  /** Status tells what is used, whether or not a quota allows it. */
  readonly isStatus: boolean;
  readonly now: number;
}

/** Why a change is refused. */
export class QuotaRefusal extends Error {}

/** What a quota counts as used once the change is made; undefined when it does not count it. Throws a QuotaRefusal when that is too much. */
export function chargeQuota(one: Quota, charge: Charge): quota.Amounts | undefined {
  const { evaluator, object } = charge;
  if (!applies(one, evaluator, object)) return undefined;
  const name = one.metadata.name ?? '';
  const hard = quota.amountsOf(one.status?.hard);
  const used = quota.amountsOf(one.status?.used);
  const restricted = evaluator.matching([...hard.keys()]);
  refuseUnstated(name, restricted, charge);
  if (restricted.some((resource) => !used.has(resource))) {
    throw new QuotaRefusal(`status unknown for quota: ${name}, resources: ${restricted.toSorted().join(',')}`);
  }
  const requested = new Map([...growth(one, charge)].filter(([resource]) => hard.has(resource)));
  if (requested.size === 0) return undefined;
  const next = quota.addAmounts(used, requested);
  if (!charge.isStatus) refuseExcess(name, { hard, used, requested, next });
  return next;
}

function applies({ spec = {}, status }: Quota, evaluator: Evaluator, object: quota.Countable): boolean {
  if (evaluator.matching(Object.keys(status?.hard ?? {})).length === 0) return false;
  return quota.scopeRequirements(spec).every((requirement) => evaluator.matchesScope(requirement, object));
}

/** How much more is used than before: a change that uses less gives nothing back, for that is counted anew by a controller. */
function growth(one: Quota, { evaluator, object, old, now }: Charge): quota.Amounts {
  const usage = evaluator.usage(object, now);
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([resource]) => resource);
  if (negative.length > 0) throw new QuotaRefusal(`quota usage is negative for resource(s): ${negative.toSorted().join(',')}`);
  const before = old !== undefined && applies(one, evaluator, old) ? evaluator.usage(old, now) : new Map<string, Quantity>();
  const grown = [...usage].map(([resource, amount]) => [resource, amount.sub(before.get(resource) ?? Quantity.zero)] as const);
  return new Map(grown.filter(([, amount]) => amount.sign > 0));
}

interface Balance {
  readonly hard: quota.Amounts;
  readonly used: quota.Amounts;
  readonly requested: quota.Amounts;
  readonly next: quota.Amounts;
}

function refuseExcess(name: string, { hard, used, requested, next }: Balance): void {
  const exceeded = [...requested.keys()].filter((resource) => next.get(resource)!.compare(hard.get(resource)!) > 0).toSorted();
  if (exceeded.length === 0) return;
  const shown = (amounts: quota.Amounts) => exceeded.map((resource) => `${resource}=${amounts.get(resource)}`).join(',');
  throw new QuotaRefusal(`exceeded quota: ${name}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`);
}

/** Resources of which, once a quota caps them, each container has to say how much it takes. */
const STATED: ReadonlySet<string> = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

function refuseUnstated(name: string, restricted: readonly string[], { evaluator, object }: Charge): void {
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
  if (missing.length > 0) throw new QuotaRefusal(`failed quota: ${name}: must specify ${missing.join('; ')}`);
}

function states({ resources }: core.Container, resource: string): boolean {
  return quota.resourceUsage(quota.amountsOf(resources?.requests), quota.amountsOf(resources?.limits)).has(resource);
}
