import { roundResources } from '../../core/v1/resource-list/resource-list.ts';
import { mapField } from '../../defaulting.ts';
import type { RuntimeClass } from './runtime-class.ts';

export function defaultRuntimeClass(runtimeClass: RuntimeClass): RuntimeClass {
  return mapField(runtimeClass, 'overhead', (overhead) => mapField(overhead, 'podFixed', roundResources));
}
