import type { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { defaultClass } from './default-class.ts';
import { type PluginDeps, readObjects } from './plugin-deps.ts';

const CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };
const MARKS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];
const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** Sets the default StorageClass on claims that name none. */
export function defaultStorageClass(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    operations: ['CREATE'],
    resources: ['persistentvolumeclaims'],
    admit: async ({ subresource, object }) => {
      if (subresource !== '') return;
      const claim = object as core.PersistentVolumeClaim;
      // An empty class name requests a volume without a class.
      if (claim.metadata.annotations?.[OLD_CLASS] !== undefined || claim.spec?.storageClassName !== undefined) return;
      // bounded: spread lists are constants
      const storageClassName = defaultClass(await readObjects(deps, CLASSES), ...MARKS);
      return storageClassName === undefined ? undefined : { ...claim, spec: { ...claim.spec, storageClassName } };
    },
  };
}
