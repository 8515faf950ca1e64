import type { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { isAboutPods } from './plugin-deps.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

export interface TolerationDefaults {
  readonly notReadySeconds: number;
  readonly unreachableSeconds: number;
}

/** Pods stay on a node that is out of reach for five minutes, unless they say otherwise. */
export function defaultTolerationSeconds(
  { notReadySeconds, unreachableSeconds }: TolerationDefaults = { notReadySeconds: 300, unreachableSeconds: 300 },
): AdmissionPlugin {
  const defaults = [toleration(NOT_READY, notReadySeconds), toleration(UNREACHABLE, unreachableSeconds)];
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    admit: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      const pod = attributes.object as core.Pod;
      const present = pod.spec?.tolerations ?? [];
      const added = defaults.filter(({ key }) => !present.some((t) => tolerates(t, key!)));
      if (added.length === 0) return undefined;
      // Most pods have none of their own: they share the list.
      return { ...pod, spec: { ...pod.spec, tolerations: present.length === 0 ? defaults : [...present, ...added] } };
    },
  };
}

function tolerates({ key = '', effect = '' }: core.Toleration, wanted: string): boolean {
  return (key === wanted || key === '') && (effect === 'NoExecute' || effect === '');
}

function toleration(key: string, tolerationSeconds: number): core.Toleration {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}
