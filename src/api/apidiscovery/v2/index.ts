export * from './api-group-discovery-list.ts';
