import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '#machinery';
import { readSchedulerConfiguration, type SchedulerConfig } from '#scheduler';
import type { FlagTable } from './flag-table.ts';

/** Flags of upstream's scheduler. */
export const SCHEDULER_FLAGS: FlagTable<SchedulerConfig> = {
  config: {
    value: 'file',
    help: 'a KubeSchedulerConfiguration',
    apply: (config, value, { cwd }) => {
      const configuration = parseYaml(readFileSync(path.resolve(cwd, value), 'utf8')).value;
      readSchedulerConfiguration(configuration);
      return { ...config, configuration };
    },
  },
};
