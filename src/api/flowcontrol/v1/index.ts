export * from './flow-schema.behaviour.ts';
export * from './flow-schema.ts';
export * from './mandatory.ts';
export * from './priority-level-configuration.behaviour.ts';
export * from './priority-level-configuration.ts';
