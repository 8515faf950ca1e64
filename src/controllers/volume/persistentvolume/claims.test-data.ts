import type { core, storage } from '#api';

type Changes<T> = { readonly metadata?: object; readonly spec?: Partial<T>; readonly phase?: string };

/** A claim for 1Gi of the class `slow`, with changes. */
export function claimOf({ metadata, spec, phase = 'Pending' }: Changes<core.PersistentVolumeClaimSpec> = {}): core.PersistentVolumeClaim {
  return {
    metadata: { name: 'c', namespace: 'n', uid: 'claim-uid', ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'slow', resources: { requests: { storage: '1Gi' } }, ...spec },
    status: { phase },
  };
}

/** An available volume of 1Gi and the class `slow`, with changes. */
export function volumeOf(
  name: string,
  { metadata, spec, phase = 'Available' }: Changes<core.PersistentVolumeSpec> = {},
): core.PersistentVolume {
  return {
    metadata: { name, ...metadata },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'slow',
      ...spec,
    },
    status: { phase },
  };
}

export function classOf(name: string, changes: Partial<storage.StorageClass> = {}): storage.StorageClass {
  return { metadata: { name }, provisioner: 'example.com/disk', volumeBindingMode: 'Immediate', ...changes };
}
