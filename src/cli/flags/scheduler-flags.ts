import { parseYaml } from '#machinery';
import { readSchedulerConfiguration, type SchedulerConfig } from '#scheduler';
import { commonFlagsWithoutEffect } from './common-flags.ts';
import { type FlagTable, fileText, flagsWithoutEffect } from './flag-table.ts';

/** kube-scheduler flags. */
export const SCHEDULER_FLAGS: FlagTable<SchedulerConfig> = {
  config: {
    value: 'file',
    help: 'a KubeSchedulerConfiguration',
    apply: (config, value, context) => {
      const configuration = parseYaml(fileText(value, context)).value;
      readSchedulerConfiguration(configuration);
      return { ...config, configuration };
    },
  },
  ...commonFlagsWithoutEffect<SchedulerConfig>(),
  ...flagsWithoutEffect<SchedulerConfig>('give the address of the API server in --kubeconfig', { master: 'text' }),
  ...flagsWithoutEffect<SchedulerConfig>('objects are exchanged as JSON', { 'kube-api-content-type': 'text' }),
  ...flagsWithoutEffect<SchedulerConfig>('leases are the one kind of lock', { 'leader-elect-resource-lock': 'text' }),
  ...flagsWithoutEffect<SchedulerConfig>('pods come back to the queue when something changes that may help them', {
    'pod-max-in-unschedulable-pods-duration': 'duration',
  }),
  ...flagsWithoutEffect<SchedulerConfig>('the configuration in use is served under /configz', { 'write-config-to': 'file' }),
};
