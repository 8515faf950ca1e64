import { lookupTable } from '#base';
import { type KubeObject, withMetadata } from '../../watch-cache/kube-object.ts';
import type { AdmissionPlugin } from '../admission.ts';

/** Finalizers by `group/resource`. Controllers remove them. */
const FINALIZERS = lookupTable<string>({
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
});

/** Adds the finalizers that keep volumes and claims until they are unused. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  resources: ['persistentvolumes', 'persistentvolumeclaims', 'volumeattributesclasses.storage.k8s.io'],
  admit: ({ resource, subresource, object }) => {
    const finalizer = FINALIZERS[`${resource.group}/${resource.resource}`];
    if (finalizer === undefined || subresource !== '') return undefined;
    const protectedObject = object as KubeObject;
    const finalizers = protectedObject.metadata.finalizers ?? [];
    return finalizers.includes(finalizer) ? undefined : withMetadata(protectedObject, { finalizers: [...finalizers, finalizer] });
  },
};
