export * from './node-metrics.ts';
export * from './pod-metrics.ts';
