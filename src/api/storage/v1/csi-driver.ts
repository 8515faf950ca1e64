import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int64, kind, listOf, named, object, pointer, required, setOf, string } from '../../schema.ts';

export const TokenRequest = object('io.k8s.api.storage.v1.TokenRequest', 'A service account token that a driver is given.', {
  audience: required(1, string, 'Who the token is meant for.'),
  expirationSeconds: pointer(2, int64, 'How long it is good. 3600 by default.'),
});
export type TokenRequest = Infer<typeof TokenRequest>;

export const CSIDriverSpec = object('io.k8s.api.storage.v1.CSIDriverSpec', 'How the cluster is to deal with a CSI driver.', {
  attachRequired: pointer(1, bool, 'Whether volumes must be attached before they are mounted. Cannot be changed.'),
  podInfoOnMount: pointer(2, bool, 'Whether the driver gets information about the pod.'),
  volumeLifecycleModes: field(3, setOf(named('v1.VolumeLifecycleMode')), 'Persistent, Ephemeral or both.'),
  storageCapacity: pointer(4, bool, 'Whether the scheduler considers the free capacity.'),
  fsGroupPolicy: pointer(5, named('v1.FSGroupPolicy'), 'Whether volumes can be given to a group: ReadWriteOnceWithFSType, File or None.'),
  tokenRequests: field(6, listOf(TokenRequest), 'Service account tokens that the driver is given.'),
  requiresRepublish: pointer(7, bool, 'Whether the driver is called now and then for mounted volumes.'),
  seLinuxMount: pointer(8, bool, 'Whether the driver can mount with an SELinux label.'),
  nodeAllocatableUpdatePeriodSeconds: pointer(9, int64, "How often the node's count of volumes is refreshed."),
  serviceAccountTokenInSecrets: pointer(10, bool, 'Whether tokens are passed as secrets of a call.'),
  preventPodSchedulingIfMissing: pointer(11, bool, 'Whether pods wait when a node lacks the driver.'),
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
  'A CSI driver, and how the cluster is to deal with it.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, CSIDriverSpec, 'How to deal with it.'),
  },
);
export type CSIDriver = Infer<typeof CSIDriver>;
