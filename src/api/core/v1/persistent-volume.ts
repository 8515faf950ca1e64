import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, pointer, string, time } from '../../schema.ts';
import { PersistentVolumeSpec } from './persistent-volume-spec.ts';

export const PersistentVolumeStatus = object('io.k8s.api.core.v1.PersistentVolumeStatus', '', {
  phase: field(1, string),
  message: field(2, string),
  reason: field(3, string),
  lastPhaseTransitionTime: pointer(4, time),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, PersistentVolumeSpec),
    status: always(3, PersistentVolumeStatus),
  },
);
export type PersistentVolume = Infer<typeof PersistentVolume>;
