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

const TOLERATED = { operator: 'Exists', effect: 'NoSchedule' } as const;

function tolerating(present: readonly core.Toleration[], names: readonly string[]): readonly core.Toleration[] {
  const isSame = ({ operator, effect, value }: core.Toleration) =>
    operator === TOLERATED.operator && effect === TOLERATED.effect && (value ?? '') === '';
  const keys = new Set(present.filter(isSame).map(({ key }) => key));
  return [...present, ...names.filter((key) => !keys.has(key)).map((key): core.Toleration => ({ key, ...TOLERATED }))];
}
