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

/** Adds tolerations of 300 seconds for not-ready and unreachable nodes unless the pod has its own. */
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
  // Most pods have no tolerations of their own and share this list.
  return added.length === 0 ? spec : { ...spec, tolerations: present.length === 0 ? defaults : [...present, ...added] };
}

function tolerates({ key = '', effect = '' }: core.Toleration, taintKey: string): boolean {
  return (key === taintKey || key === '') && (effect === 'NoExecute' || effect === '');
}

function toleration(key: string, tolerationSeconds: number): core.Toleration {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}
