import { core, quota } from '#api';
import { type JsonValue, semanticEqual } from '#machinery';

/** The desired status of a quota; undefined if it has it already. */
export function reconcileQuota({ spec, status }: core.ResourceQuota, usage: quota.Amounts): core.ResourceQuotaStatus | undefined {
  const hard = spec?.hard ?? {};
  const allUsed = { ...status?.used, ...quota.listOfAmounts(usage) };
  const used = Object.fromEntries(Object.entries(allUsed).filter(([name]) => Object.hasOwn(hard, name)));
  const next = { hard, used };
  const isCurrent = status?.hard !== undefined && status.used !== undefined && sameStatus(next, status);
  return isCurrent ? undefined : next;
}

/** Whether a quota limits a resource that its status does not count yet. */
export function isUncounted({ spec, status }: core.ResourceQuota): boolean {
  return !sameStatus({ hard: spec?.hard ?? {} }, { hard: status?.hard ?? {} });
}

function sameStatus(a: core.ResourceQuotaStatus, b: core.ResourceQuotaStatus): boolean {
  return semanticEqual(a as unknown as JsonValue, b as unknown as JsonValue, core.ResourceQuotaStatus);
}
