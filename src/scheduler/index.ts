export { type ClientConnectionSettings, type LeaderElectionSettings, standaloneSettings } from './config/process-settings.ts';
export {
  readSchedulerConfiguration,
  type SchedulerConfiguration,
  SchedulerConfigurationError,
} from './config/scheduler-configuration.ts';
export { type SchedulerConfig, type SchedulerDeps, startScheduler } from './scheduler.ts';
