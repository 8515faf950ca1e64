export * from './storage-version-migration.behaviour.ts';
export * from './storage-version-migration.ts';
