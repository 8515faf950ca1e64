export * from './event.behaviour.ts';
export * from './event.conversion.ts';
export * from './event.ts';
