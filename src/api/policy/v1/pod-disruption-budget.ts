import { Condition } from '../../meta/v1/condition.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  int64,
  intOrString,
  kind,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  time,
} from '../../schema.ts';

export const PodDisruptionBudgetSpec = object('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', 'How many pods may be missing.', {
  minAvailable: pointer(1, intOrString, 'How many must remain, as a number or percentage.'),
  selector: pointer(2, LabelSelector, 'Labels of the pods; all of the namespace when empty.', { patchReplace: true }),
  maxUnavailable: pointer(3, intOrString, 'How many may be missing, as a number or percentage.'),
  unhealthyPodEvictionPolicy: pointer(
    4,
    named('v1.UnhealthyPodEvictionPolicyType'),
    'When pods that are not ready may be evicted: IfHealthyBudget or AlwaysAllow.',
  ),
});
export type PodDisruptionBudgetSpec = Infer<typeof PodDisruptionBudgetSpec>;

export const PodDisruptionBudgetStatus = object('io.k8s.api.policy.v1.PodDisruptionBudgetStatus', 'How many pods may be evicted now.', {
  observedGeneration: field(1, int64, 'The generation that this status is about.'),
  disruptedPods: field(2, mapOf(time), 'Pods whose eviction was allowed and that still exist, with the time.'),
  disruptionsAllowed: always(3, int32, 'How many more may be evicted now.'),
  currentHealthy: always(4, int32, 'How many pods are healthy.'),
  desiredHealthy: always(5, int32, 'How many must be.'),
  expectedPods: always(6, int32, 'How many pods there should be in all.'),
  conditions: field(7, mapListOf(Condition, 'type'), 'What is known of its state.', { merge: 'type' }),
});
export type PodDisruptionBudgetStatus = Infer<typeof PodDisruptionBudgetStatus>;

export const PodDisruptionBudget = kind(
  {
    name: 'io.k8s.api.policy.v1.PodDisruptionBudget',
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    resource: 'poddisruptionbudgets',
    namespaced: true,
    shortNames: ['pdb'],
  },
  'How many pods of an application may be missing at once when pods are evicted.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, PodDisruptionBudgetSpec, 'What is wanted.'),
    status: always(3, PodDisruptionBudgetStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
