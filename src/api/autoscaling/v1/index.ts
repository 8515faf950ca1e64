export * from './horizontal-pod-autoscaler.behaviour.ts';
export * from './horizontal-pod-autoscaler.conversion.ts';
export * from './horizontal-pod-autoscaler.ts';
export * from './scale.table.ts';
export * from './scale.ts';
export * from './scale.validation.ts';
