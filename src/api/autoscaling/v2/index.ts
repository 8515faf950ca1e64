export * from './horizontal-pod-autoscaler.behaviour.ts';
export * from './horizontal-pod-autoscaler.ts';
