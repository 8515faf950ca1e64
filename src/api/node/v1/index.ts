export * from './runtime-class.behaviour.ts';
export * from './runtime-class.ts';
