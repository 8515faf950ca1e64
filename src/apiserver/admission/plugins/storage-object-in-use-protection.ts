import { type KubeObject, withMetadata } from '../../registry/kube-object.ts';
import type { AdmissionPlugin } from '../admission.ts';

/** What keeps an object while others use it, by `group/resource`. Controllers take it away. */
const FINALIZERS: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
};

/** Volumes and claims do not go while something uses them. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  resources: ['persistentvolumes', 'persistentvolumeclaims', 'volumeattributesclasses.storage.k8s.io'],
  admit: ({ resource, subresource, object }) => {
    const finalizer = FINALIZERS[`${resource.group}/${resource.resource}`];
    if (finalizer === undefined || subresource !== '') return undefined;
    const kept = object as KubeObject;
    const finalizers = kept.metadata.finalizers ?? [];
    return finalizers.includes(finalizer) ? undefined : withMetadata(kept, { finalizers: [...finalizers, finalizer] });
  },
};
