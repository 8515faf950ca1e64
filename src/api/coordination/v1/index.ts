export * from './lease.behaviour.ts';
export * from './lease.ts';
