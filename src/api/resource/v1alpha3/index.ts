export * from './device-taint-rule.behaviour.ts';
export * from './device-taint-rule.ts';
export * from './resource-pool-status-request.behaviour.ts';
export * from './resource-pool-status-request.ts';
