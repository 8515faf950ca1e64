import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int64, kind, listOf, object, pointer, required, setOf, string } from '../../schema.ts';

export const TokenRequest = object('io.k8s.api.storage.v1.TokenRequest', '', {
  audience: required(1, string),
  expirationSeconds: pointer(2, int64),
});
export type TokenRequest = Infer<typeof TokenRequest>;

export const CSIDriverSpec = object('io.k8s.api.storage.v1.CSIDriverSpec', '', {
  attachRequired: pointer(1, bool),
  podInfoOnMount: pointer(2, bool),
  volumeLifecycleModes: field(3, setOf(string)),
  storageCapacity: pointer(4, bool),
  fsGroupPolicy: pointer(5, string),
  tokenRequests: field(6, listOf(TokenRequest)),
  requiresRepublish: pointer(7, bool),
  seLinuxMount: pointer(8, bool),
  nodeAllocatableUpdatePeriodSeconds: pointer(9, int64),
  serviceAccountTokenInSecrets: pointer(10, bool),
  preventPodSchedulingIfMissing: pointer(11, bool),
});
export type CSIDriverSpec = Infer<typeof CSIDriverSpec>;

export const CSIDriver = kind(
  {
    name: 'io.k8s.api.storage.v1.CSIDriver',
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSIDriver',
    resource: 'csidrivers',
    namespaced: false,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, CSIDriverSpec),
  },
);
export type CSIDriver = Infer<typeof CSIDriver>;
