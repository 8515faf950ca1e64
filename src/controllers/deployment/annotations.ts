import { apps } from '#api';

export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const { ROLLBACK_TO } = apps;
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Revisions are any int64, beyond what a number holds exactly. Undefined if it is none. */
export function parseRevision(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const revision = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, revision) === revision ? revision : undefined;
}

/** Undefined if it is not an integer. */
export function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
