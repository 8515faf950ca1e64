export * from './cron-job.ts';
export * from './job.ts';
export * from './job-spec.ts';
