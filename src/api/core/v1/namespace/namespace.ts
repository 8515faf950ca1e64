import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, named, object, required, string, time } from '../../../schema.ts';

export const NamespaceSpec = object('io.k8s.api.core.v1.NamespaceSpec', 'How a namespace ends.', {
  finalizers: field(1, listOf(named('v1.FinalizerName')), 'Finalizers that must be removed before the namespace is deleted.'),
});
export type NamespaceSpec = Infer<typeof NamespaceSpec>;

export const NamespaceCondition = object('io.k8s.api.core.v1.NamespaceCondition', 'One finding about a namespace.', {
  type: required(1, named('v1.NamespaceConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastTransitionTime: always(4, time, 'When the status last changed.'),
  reason: field(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.'),
});
export type NamespaceCondition = Infer<typeof NamespaceCondition>;

export const NamespaceStatus = object('io.k8s.api.core.v1.NamespaceStatus', 'Where a namespace is in its life.', {
  phase: field(1, named('v1.NamespacePhase'), 'Active, or Terminating once it is being deleted.'),
  conditions: field(2, mapListOf(NamespaceCondition, 'type'), 'What keeps the namespace from ending.', { merge: 'type' }),
});
export type NamespaceStatus = Infer<typeof NamespaceStatus>;

export const Namespace = kind(
  {
    name: 'io.k8s.api.core.v1.Namespace',
    group: '',
    version: 'v1',
    kind: 'Namespace',
    resource: 'namespaces',
    namespaced: false,
    shortNames: ['ns'],
  },
  'A space of names for objects, and the unit of quotas and permissions.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, NamespaceSpec, 'What is wanted.'),
    status: always(3, NamespaceStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Namespace = Infer<typeof Namespace>;
