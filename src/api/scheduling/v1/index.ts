export * from './priority-class.ts';
