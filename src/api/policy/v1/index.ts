export * from './eviction.ts';
export * from './pod-disruption-budget.behaviour.ts';
export * from './pod-disruption-budget.ts';
