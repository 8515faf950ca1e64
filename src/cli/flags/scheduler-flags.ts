import { parseYaml } from '#machinery';
import { readSchedulerConfiguration, type SchedulerConfig } from '#scheduler';
import { type FlagTable, fileText } from './flag-table.ts';

/** Flags of upstream's scheduler. */
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
};
