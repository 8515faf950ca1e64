import type { KindBehaviour } from '../../behaviour.ts';
import { DeviceClass } from './device-class.ts';
import { validateDeviceClass, validateDeviceClassUpdate } from './device-class.validation.ts';
import { deviceClassTable } from './resource.table.ts';

export const deviceClassBehaviour: KindBehaviour<DeviceClass> = {
  kind: DeviceClass,
  validate: validateDeviceClass,
  validateUpdate: validateDeviceClassUpdate,
  table: deviceClassTable,
};
