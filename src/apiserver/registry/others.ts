import { CORE_STRATEGIES } from './core.ts';

/** Every kind but workloads and custom resource definitions. */
export const OTHER_STRATEGIES = [...CORE_STRATEGIES] as const;
