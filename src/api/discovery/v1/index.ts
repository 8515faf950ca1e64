export * from './endpoint-slice.ts';
