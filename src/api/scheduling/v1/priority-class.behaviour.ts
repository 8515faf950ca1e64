import type { KindBehaviour } from '../../behaviour.ts';
import { defaultPriorityClass } from './priority-class.defaults.ts';
import { priorityClassTable } from './priority-class.table.ts';
import { PriorityClass } from './priority-class.ts';
import { validatePriorityClass, validatePriorityClassUpdate } from './priority-class.validation.ts';

export const priorityClassBehaviour: KindBehaviour<PriorityClass> = {
  kind: PriorityClass,
  defaults: defaultPriorityClass,
  validate: validatePriorityClass,
  validateUpdate: validatePriorityClassUpdate,
  table: priorityClassTable,
};
