import type { core, storage } from '#api';
import { Quantity } from '#machinery';
import type { AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

type Claim = core.PersistentVolumeClaim;
const CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };
const UNABLE = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** Claims grow only when they are bound, and their class can grow volumes. */
export function persistentVolumeClaimResize(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    operations: ['UPDATE'],
    resources: ['persistentvolumeclaims'],
    validate: async (attributes) => {
      const { subresource, object, oldObject } = attributes;
      if (subresource !== '') return;
      const claim = object as Claim;
      const old = oldObject as Claim;
      if (sizeOf(claim).compare(sizeOf(old)) <= 0) return;
      if (old.status?.phase !== 'Bound') throw pluginForbiddenError(attributes, 'Only bound persistent volume claims can be expanded');
      if (!(await canGrow(claim, old, deps))) throw pluginForbiddenError(attributes, UNABLE);
    },
  };
}

function sizeOf({ spec }: Claim): Quantity {
  return Quantity.parse(spec?.resources?.requests?.storage ?? '0');
}

async function canGrow(claim: Claim, old: Claim, deps: PluginDeps): Promise<boolean> {
  const name = classOf(claim);
  if (name === '' || name !== classOf(old)) return false;
  const storageClass = await readObject(deps, CLASSES, { namespace: '', name });
  return (storageClass as unknown as storage.StorageClass | undefined)?.allowVolumeExpansion ?? false;
}

function classOf({ metadata, spec }: Claim): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
}
