export * from './api-service.behaviour.ts';
export * from './api-service.ts';
