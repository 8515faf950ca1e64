import { fillUnset } from '../../defaulting.ts';
import type { CSIDriver } from './csi-driver.ts';

const DEFAULTS = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
};

export function defaultCSIDriver(driver: CSIDriver): CSIDriver {
  const filled = fillUnset(driver.spec ?? {}, DEFAULTS);
  const spec = filled.volumeLifecycleModes?.length ? filled : { ...filled, volumeLifecycleModes: ['Persistent'] };
  return spec === driver.spec ? driver : { ...driver, spec };
}
