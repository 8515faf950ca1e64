import type { core } from '#api';

const CRITICAL_PRIORITY = 2_000_000_000;

/** Static pods, and those of the system's priority classes. */
export function isCritical({ spec, metadata }: core.Pod): boolean {
  if (metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return true;
  const source = metadata.annotations?.['kubernetes.io/config.source'];
  return (source !== undefined && source !== 'api') || (spec?.priority ?? 0) >= CRITICAL_PRIORITY;
}
