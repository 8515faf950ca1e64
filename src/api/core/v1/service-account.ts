import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, mapListOf, pointer } from '../../schema.ts';
import { LocalObjectReference } from './local-object-reference.ts';
import { ObjectReference } from './object-reference.ts';

export const ServiceAccount = kind(
  {
    name: 'io.k8s.api.core.v1.ServiceAccount',
    group: '',
    version: 'v1',
    kind: 'ServiceAccount',
    resource: 'serviceaccounts',
    namespaced: true,
    shortNames: ['sa'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    secrets: field(2, mapListOf(ObjectReference, 'name'), '', { merge: 'name' }),
    imagePullSecrets: field(3, listOf(LocalObjectReference)),
    automountServiceAccountToken: pointer(4, bool),
  },
);
export type ServiceAccount = Infer<typeof ServiceAccount>;
