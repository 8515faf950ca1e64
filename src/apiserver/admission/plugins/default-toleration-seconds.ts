import type { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { isAboutPods } from './plugin-deps.ts';

const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export interface TolerationDefaults {
  readonly notReadySeconds: number;
  readonly unreachableSeconds: number;
}

/** Pods stay on a node that is out of reach for five minutes, unless they say otherwise. */
export function defaultTolerationSeconds(
  { notReadySeconds, unreachableSeconds }: TolerationDefaults = { notReadySeconds: 300, unreachableSeconds: 300 },
): AdmissionPlugin {
  const seconds = [notReadySeconds, unreachableSeconds];
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    admit: (attributes) => {
      if (!isAboutPods(attributes)) return;
      const pod = attributes.object as core.Pod;
      const present = pod.spec?.tolerations ?? [];
      const added = KEYS.flatMap((key, i) => (present.some((t) => tolerates(t, key)) ? [] : [toleration(key, seconds[i]!)]));
      return added.length === 0 ? undefined : { ...pod, spec: { ...pod.spec, tolerations: [...present, ...added] } };
    },
  };
}

function tolerates({ key = '', effect = '' }: core.Toleration, wanted: string): boolean {
  return (key === wanted || key === '') && (effect === 'NoExecute' || effect === '');
}

function toleration(key: string, tolerationSeconds: number): core.Toleration {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}
