import { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { isAboutPods } from './plugin-deps.ts';

/** Adds a toleration for each extended resource that a pod requests, so that nodes with it can be tainted by its name. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  admit: (attributes) => {
    if (!isAboutPods(attributes)) return undefined;
    const pod = attributes.object as core.Pod;
    const names = extendedResources(pod.spec!);
    return names.length === 0 ? undefined : { ...pod, spec: { ...pod.spec, tolerations: tolerating(pod.spec?.tolerations ?? [], names) } };
  },
};

function extendedResources({ containers, initContainers = [] }: core.PodSpec): readonly string[] {
  const requested = [...containers, ...initContainers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
  return [...new Set(requested)].filter((name) => core.isExtendedResource(name)).toSorted();
}

function tolerating(present: readonly core.Toleration[], names: readonly string[]): readonly core.Toleration[] {
  const added = names.map((key): core.Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
  return [...present, ...added.filter((toleration) => !present.some((other) => isSame(other, toleration)))];
}

/** A toleration of the same key, operator, effect and value. */
function isSame(a: core.Toleration, b: core.Toleration): boolean {
  return a.key === b.key && a.operator === b.operator && a.effect === b.effect && (a.value ?? '') === (b.value ?? '');
}
