import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapListOf, object, required, string, time } from '../../schema.ts';

export const NamespaceSpec = object('io.k8s.api.core.v1.NamespaceSpec', '', {
  finalizers: field(1, listOf(string)),
});
export type NamespaceSpec = Infer<typeof NamespaceSpec>;

export const NamespaceCondition = object('io.k8s.api.core.v1.NamespaceCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(4, time),
  reason: field(5, string),
  message: field(6, string),
});
export type NamespaceCondition = Infer<typeof NamespaceCondition>;

export const NamespaceStatus = object('io.k8s.api.core.v1.NamespaceStatus', '', {
  phase: field(1, string),
  conditions: field(2, mapListOf(NamespaceCondition, 'type'), '', { merge: 'type' }),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, NamespaceSpec),
    status: always(3, NamespaceStatus),
  },
);
export type Namespace = Infer<typeof Namespace>;
