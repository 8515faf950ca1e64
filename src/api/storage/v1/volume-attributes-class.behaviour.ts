import type { KindBehaviour } from '../../behaviour.ts';
import { volumeAttributesClassTable } from './volume-attributes-class.table.ts';
import { VolumeAttributesClass } from './volume-attributes-class.ts';
import { validateVolumeAttributesClass, validateVolumeAttributesClassUpdate } from './volume-attributes-class.validation.ts';

export const volumeAttributesClassBehaviour: KindBehaviour<VolumeAttributesClass> = {
  kind: VolumeAttributesClass,
  validate: validateVolumeAttributesClass,
  validateUpdate: validateVolumeAttributesClassUpdate,
  table: volumeAttributesClassTable,
};
