export * from './api-service.ts';
