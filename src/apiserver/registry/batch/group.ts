import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { cronJobsStrategy } from './cron-jobs.ts';
import { jobsStrategy } from './jobs.ts';

export const BATCH: RegistryGroup = registryGroup([cronJobsStrategy, jobsStrategy]);
