import type { KindBehaviour } from '../../behaviour.ts';
import { defaultCSIDriver } from './csi-driver.defaults.ts';
import { csiDriverTable } from './csi-driver.table.ts';
import { CSIDriver } from './csi-driver.ts';
import { csiDriverWarnings, validateCSIDriver, validateCSIDriverUpdate } from './csi-driver.validation.ts';

export const csiDriverBehaviour: KindBehaviour<CSIDriver> = {
  kind: CSIDriver,
  defaults: defaultCSIDriver,
  validate: validateCSIDriver,
  validateUpdate: validateCSIDriverUpdate,
  warnings: csiDriverWarnings,
  table: csiDriverTable,
};
