export * from './lease-candidate.behaviour.ts';
export * from './lease-candidate.ts';
