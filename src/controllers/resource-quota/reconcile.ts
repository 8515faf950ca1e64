import { core, quota } from '#api';
import { type JsonValue, semanticEqual } from '#machinery';

/** What a quota's status should say, given what is used; undefined when it says so already. */
export function reconcileQuota({ spec, status }: core.ResourceQuota, usage: quota.Amounts): core.ResourceQuotaStatus | undefined {
  const hard = spec?.hard ?? {};
  const known = { ...status?.used, ...quota.listOfAmounts(usage) };
  const used = Object.fromEntries(Object.entries(known).filter(([name]) => Object.hasOwn(hard, name)));
  const next = { hard, used };
  const isCurrent = status?.hard !== undefined && status.used !== undefined && same(next, status);
  return isCurrent ? undefined : next;
}

/** Whether a quota asks for something that its status does not tell yet. */
export function isUncounted({ spec, status }: core.ResourceQuota): boolean {
  return !same({ hard: spec?.hard ?? {} }, { hard: status?.hard ?? {} });
}

function same(a: core.ResourceQuotaStatus, b: core.ResourceQuotaStatus): boolean {
  return semanticEqual(a as unknown as JsonValue, b as unknown as JsonValue, core.ResourceQuotaStatus);
}
