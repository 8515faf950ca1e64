import type { KindBehaviour } from '../../behaviour.ts';
import { defaultPriorityLevelConfiguration } from './priority-level-configuration.defaults.ts';
import { priorityLevelConfigurationTable } from './priority-level-configuration.table.ts';
import { PriorityLevelConfiguration } from './priority-level-configuration.ts';
import {
  validatePriorityLevelConfiguration,
  validatePriorityLevelConfigurationStatusUpdate,
  validatePriorityLevelConfigurationUpdate,
} from './priority-level-configuration.validation.ts';

export const priorityLevelConfigurationBehaviour: KindBehaviour<PriorityLevelConfiguration> = {
  kind: PriorityLevelConfiguration,
  defaults: defaultPriorityLevelConfiguration,
  validate: validatePriorityLevelConfiguration,
  validateUpdate: validatePriorityLevelConfigurationUpdate,
  validateStatusUpdate: validatePriorityLevelConfigurationStatusUpdate,
  table: priorityLevelConfigurationTable,
};
