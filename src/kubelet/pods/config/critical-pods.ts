import type { core } from '#api';

const CRITICAL_PRIORITY = 2_000_000_000;

/** Static pods, and pods with a system priority class. */
export function isCritical(pod: core.Pod): boolean {
  if (pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return true;
  return isStatic(pod) || (pod.spec?.priority ?? 0) >= CRITICAL_PRIORITY;
}

/** Of a file or an address, not of the API. */
export function isStatic({ metadata }: core.Pod): boolean {
  const source = metadata.annotations?.['kubernetes.io/config.source'];
  return source !== undefined && source !== 'api';
}

/** The last ones that the kernel kills when the machine is out of memory. */
export function isNodeCritical(pod: core.Pod): boolean {
  return isCritical(pod) && pod.spec?.priorityClassName === 'system-node-critical';
}
