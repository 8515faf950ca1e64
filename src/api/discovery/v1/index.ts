export * from './endpoint-slice.behaviour.ts';
export * from './endpoint-slice.ts';
