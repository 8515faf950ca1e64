export * from './storage-version.behaviour.ts';
export * from './storage-version.ts';
