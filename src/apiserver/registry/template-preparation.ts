import { core } from '#api';

interface Templated {
  readonly spec?: { readonly template?: core.PodTemplateSpec };
}

/** Drops from a workload's pod template what this version does not serve. */
export function prepareTemplate<T extends Templated>(object: T): T {
  const template = object.spec?.template;
  if (!template) return object;
  const prepared = core.dropDisabledTemplateFields(template);
  return prepared === template ? object : { ...object, spec: { ...object.spec, template: prepared } };
}
