export * from './pod-group.behaviour.ts';
export * from './pod-group.ts';
export * from './workload.behaviour.ts';
export * from './workload.ts';
