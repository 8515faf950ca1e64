export * from './priority-class.behaviour.ts';
export * from './priority-class.ts';
