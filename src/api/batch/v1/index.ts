export * from './cron-job.behaviour.ts';
export * from './cron-job.ts';
export * from './cron-schedule.ts';
export * from './index-list.ts';
export * from './job.behaviour.ts';
export { jobWithTemplateLabels } from './job.defaults.ts';
export * from './job.ts';
export * from './job.validation.ts';
export * from './job-spec.ts';
