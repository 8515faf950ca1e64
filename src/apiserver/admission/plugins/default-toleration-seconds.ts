import type { core } from '#api';
import { changeOnce } from '#machinery';
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
  const tolerating = changeOnce((spec: core.PodSpec) => withTolerations(spec, defaults));
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    admit: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      const pod = attributes.object as core.Pod;
      const spec = tolerating(pod.spec!);
      return spec === pod.spec ? undefined : { ...pod, spec };
    },
  };
}

function withTolerations(spec: core.PodSpec, defaults: readonly core.Toleration[]): core.PodSpec {
  const present = spec.tolerations ?? [];
  const added = defaults.filter(({ key }) => !present.some((t) => tolerates(t, key!)));
  // Most pods have none of their own: they share the list.
  return added.length === 0 ? spec : { ...spec, tolerations: present.length === 0 ? defaults : [...present, ...added] };
}

function tolerates({ key = '', effect = '' }: core.Toleration, wanted: string): boolean {
  return (key === wanted || key === '') && (effect === 'NoExecute' || effect === '');
}

function toleration(key: string, tolerationSeconds: number): core.Toleration {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}
