export * from './lease.ts';
