import { autoscaling, events } from '#api';
import { customResourceDefinitionsStrategy } from './apiextensions/custom-resource-definitions.ts';
import type { Conversion } from './catalog.ts';
import { OTHER_STRATEGIES } from './others.ts';
import type { AnyStrategy } from './served-resource.ts';
import { WORKLOAD_STRATEGIES } from './workloads.ts';

/** How every built-in kind is kept. */
export const BUILT_IN_STRATEGIES = [
  ...WORKLOAD_STRATEGIES,
  ...OTHER_STRATEGIES,
  customResourceDefinitionsStrategy,
] as unknown as readonly AnyStrategy[];

/** Kinds that are served in another version, or group, than the one they are stored in. */
export const CONVERSIONS: readonly Conversion[] = [
  {
    from: 'autoscaling/v1/HorizontalPodAutoscaler',
    to: 'autoscaling/v2/HorizontalPodAutoscaler',
    toStored: autoscaling.toV2 as unknown as Conversion['toStored'],
    fromStored: autoscaling.toV1 as unknown as Conversion['fromStored'],
  },
  {
    from: 'events.k8s.io/v1/Event',
    to: '/v1/Event',
    toStored: events.toCoreEvent as unknown as Conversion['toStored'],
    fromStored: events.fromCoreEvent as unknown as Conversion['fromStored'],
    hasOwnRules: true,
  },
];
