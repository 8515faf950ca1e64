import type { KindBehaviour } from '../../behaviour.ts';
import { defaultRuntimeClass } from './runtime-class.defaults.ts';
import { runtimeClassTable } from './runtime-class.table.ts';
import { RuntimeClass } from './runtime-class.ts';
import { runtimeClassWarnings, validateRuntimeClass, validateRuntimeClassUpdate } from './runtime-class.validation.ts';

export const runtimeClassBehaviour: KindBehaviour<RuntimeClass> = {
  kind: RuntimeClass,
  defaults: defaultRuntimeClass,
  validate: validateRuntimeClass,
  validateUpdate: validateRuntimeClassUpdate,
  warnings: runtimeClassWarnings,
  table: runtimeClassTable,
};
