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
  object,
  pointer,
  string,
  time,
} from '../../schema.ts';

export const PodDisruptionBudgetSpec = object('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', '', {
  minAvailable: pointer(1, intOrString),
  selector: pointer(2, LabelSelector, '', { patchReplace: true }),
  maxUnavailable: pointer(3, intOrString),
  unhealthyPodEvictionPolicy: pointer(4, string),
});
export type PodDisruptionBudgetSpec = Infer<typeof PodDisruptionBudgetSpec>;

export const PodDisruptionBudgetStatus = object('io.k8s.api.policy.v1.PodDisruptionBudgetStatus', '', {
  observedGeneration: field(1, int64),
  disruptedPods: field(2, mapOf(time)),
  disruptionsAllowed: always(3, int32),
  currentHealthy: always(4, int32),
  desiredHealthy: always(5, int32),
  expectedPods: always(6, int32),
  conditions: field(7, mapListOf(Condition, 'type'), '', { merge: 'type' }),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, PodDisruptionBudgetSpec),
    status: always(3, PodDisruptionBudgetStatus),
  },
);
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
