import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, mapListOf, pointer } from '../../../schema.ts';
import { LocalObjectReference } from '../reference/local-object-reference.ts';
import { ObjectReference } from '../reference/object-reference.ts';

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
  'An identity for what runs in pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    secrets: field(2, mapListOf(ObjectReference, 'name'), 'Secrets that pods with this account may use, where that is enforced.', {
      merge: 'name',
    }),
    imagePullSecrets: field(3, listOf(LocalObjectReference), 'Secrets for pulling images, given to pods that name none.'),
    automountServiceAccountToken: pointer(4, bool, 'Whether a token is mounted into pods that do not set the field themselves.'),
  },
);
export type ServiceAccount = Infer<typeof ServiceAccount>;
