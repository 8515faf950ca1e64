export * from './horizontal-pod-autoscaler.ts';
export * from './scale.ts';
