import { core } from '#api';
import type { RequestScope } from './strategy.ts';

interface Workload {
  readonly spec?: { readonly template?: core.PodTemplateSpec };
}

/** Drops disabled fields from a workload's pod template. */
export function prepareTemplate<T extends Workload>(object: T, { features }: RequestScope): T {
  const template = object.spec?.template;
  if (!template) return object;
  const prepared = core.dropDisabledTemplateFields(template, features);
  return prepared === template ? object : { ...object, spec: { ...object.spec, template: prepared } };
}
