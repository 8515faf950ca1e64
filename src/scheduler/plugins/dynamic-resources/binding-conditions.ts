import { type core, resource } from '#api';
import { parseTime } from '#machinery';
import type { Claim } from './device-request.ts';

type Readiness = 'ready' | 'not-yet' | { readonly problem: string };

/** Whether all devices of a claim meet their binding conditions. */
export function readinessOf({ metadata, status }: Claim): Readiness {
  for (const result of status?.allocation?.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result;
    if (bindingConditions.length === 0) continue;
    const device = (status?.devices ?? []).find((deviceStatus) => resource.deviceKey(deviceStatus) === resource.deviceKey(result));
    if (device === undefined) return 'not-yet';
    const conditions = (device.conditions ?? []) as readonly core.NodeCondition[];
    const isTrue = (type: string) => conditions.some((condition) => condition.type === type && condition.status === 'True');
    const failure = conditions.find(({ type, status: is }) => bindingFailureConditions.includes(type) && is === 'True');
    if (failure !== undefined) {
      const { reason = '', message = '' } = failure;
      return { problem: `device binding failed: claim=${metadata.name}, reason=${reason}, message=${JSON.stringify(message)}` };
    }
    if (!bindingConditions.every(isTrue)) return 'not-yet';
  }
  return 'ready';
}

export function hasBindingConditions({ status }: Claim): boolean {
  return (status?.allocation?.devices?.results ?? []).some(({ bindingConditions }) => (bindingConditions?.length ?? 0) > 0);
}

/** Whether the binding timeout has passed. */
export function isOverdue(claim: Claim, now: number, timeoutMs: number): boolean {
  const since = parseTime((claim.status?.allocation?.allocationTimestamp ?? '') as string);
  return since !== undefined && hasBindingConditions(claim) && since + timeoutMs < now;
}
