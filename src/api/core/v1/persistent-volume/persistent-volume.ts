import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, named, object, pointer, string, time } from '../../../schema.ts';
import { PersistentVolumeSpec } from './persistent-volume-spec.ts';

export const PersistentVolumeStatus = object('io.k8s.api.core.v1.PersistentVolumeStatus', 'Where a volume is in its life.', {
  phase: field(1, named('v1.PersistentVolumePhase'), 'Pending, Available, Bound, Released or Failed.'),
  message: field(2, string, 'Why, in words.'),
  reason: field(3, string, 'Why, as one word.'),
  lastPhaseTransitionTime: pointer(4, time, 'When the phase last changed.'),
});
export type PersistentVolumeStatus = Infer<typeof PersistentVolumeStatus>;

export const PersistentVolume = kind(
  {
    name: 'io.k8s.api.core.v1.PersistentVolume',
    group: '',
    version: 'v1',
    kind: 'PersistentVolume',
    resource: 'persistentvolumes',
    namespaced: false,
    shortNames: ['pv'],
  },
  'A piece of storage in the cluster, made by an administrator or a provisioner.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, PersistentVolumeSpec, 'What is wanted.'),
    status: always(3, PersistentVolumeStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type PersistentVolume = Infer<typeof PersistentVolume>;
