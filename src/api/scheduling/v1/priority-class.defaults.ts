import { fillUnset } from '../../defaulting.ts';
import type { PriorityClass } from './priority-class.ts';

export function defaultPriorityClass(priorityClass: PriorityClass): PriorityClass {
  return fillUnset(priorityClass, { preemptionPolicy: 'PreemptLowerPriority' });
}
