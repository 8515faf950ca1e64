import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { nodeLabelSelectorWarnings } from '../../core/v1/node/node-label.warnings.ts';
import { immutable, invalidErrors, nonNegativeQuantity } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { CSIStorageCapacity } from './csi-storage-capacity.ts';

const TOPOLOGY = Path.of('nodeTopology');
const CLASS_NAME = Path.of('storageClassName');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateCSIStorageCapacity(capacity: CSIStorageCapacity, allowInvalidValues = false): FieldError[] {
  const className = capacity.storageClassName ?? '';
  return [
    ...validateObjectMeta(capacity.metadata, META),
    ...validateLabelSelector(capacity.nodeTopology, TOPOLOGY, { allowInvalidValues }),
    ...invalidErrors(CLASS_NAME, className, nameIsDnsSubdomain(className, false)),
    ...(capacity.capacity === undefined ? [] : nonNegativeQuantity(Path.of('capacity'), capacity.capacity)),
  ];
}

export function validateCSIStorageCapacityUpdate(capacity: CSIStorageCapacity, old: CSIStorageCapacity): FieldError[] {
  const allowInvalidValues = validateLabelSelector(old.nodeTopology, TOPOLOGY).length > 0;
  return [
    ...validateCSIStorageCapacity(capacity, allowInvalidValues),
    ...validateObjectMetaUpdate(capacity.metadata, old.metadata),
    ...immutable(TOPOLOGY, {
      value: capacity.nodeTopology,
      old: old.nodeTopology,
      printed: goStruct(LabelSelector, capacity.nodeTopology),
    }),
    ...immutable(CLASS_NAME, { value: capacity.storageClassName ?? '', old: old.storageClassName ?? '' }),
  ];
}

export function csiStorageCapacityWarnings({ nodeTopology }: CSIStorageCapacity): readonly string[] {
  return nodeLabelSelectorWarnings(nodeTopology, TOPOLOGY);
}
