import { defaultPodTemplate } from '../../core/v1/pod/pod-spec.defaults.ts';
import { fillUnset, withField } from '../../defaulting.ts';
import type { ReplicaSet, ReplicaSetSpec } from './replica-set.ts';

export function defaultReplicaSet(set: ReplicaSet): ReplicaSet {
  const spec = fillUnset(set.spec ?? ({} as ReplicaSetSpec), { replicas: 1 });
  return withField(set, 'spec', withField(spec, 'template', defaultPodTemplate(spec.template)));
}
