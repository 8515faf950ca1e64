import { apps } from '#api';

export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const { ROLLBACK_TO } = apps;
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Undefined if it is not an integer. */
export function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
