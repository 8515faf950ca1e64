import { pushAll } from '#base';
import { checkQualifiedName, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { validateCSIDriverName } from '../../core/v1/volume/volume-source.validation.ts';
import { immutable, invalidErrors, markDuplicates, nonNegative } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { type CSINode, CSINodeDriver } from './csi-node.ts';

const MAX_NODE_ID_LENGTH = 256;
const DRIVERS = Path.of('spec', 'drivers');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateCSINode({ metadata, spec }: CSINode): FieldError[] {
  const names = new Set<string>();
  const errors = validateObjectMeta(metadata, META);
  (spec?.drivers ?? []).forEach((driver, i) => {
    pushAll(errors, validateDriver(DRIVERS.index(i), driver));
    if (names.has(driver.name)) errors.push(FieldError.duplicate(DRIVERS.index(i).child('name'), driver.name));
    names.add(driver.name);
    pushAll(errors, validateTopologyKeys(DRIVERS.index(i), driver.topologyKeys ?? []));
  });
  return errors;
}

function validateDriver(path: Path, { name, nodeID = '', allocatable }: CSINodeDriver): FieldError[] {
  const report = FieldReport.on(path);
  validateCSIDriverName(name, report.child('name'));
  if (nodeID === '') report.child('nodeID').required();
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID_LENGTH)
    report.child('nodeID').invalid(nodeID, `must be ${MAX_NODE_ID_LENGTH} characters or less`);
  const count = allocatable?.count;
  if (count !== undefined) report.add(nonNegative(path.child('allocatable', 'count'), count));
  return report.errors;
}

/** Errors of keys are reported on the driver. */
function validateTopologyKeys(path: Path, keys: readonly string[]): FieldError[] {
  const repeated = markDuplicates(keys);
  return itemErrors(keys, (key, i) => [
    ...(key === '' ? [FieldError.required(path)] : []),
    ...(repeated[i] ? [FieldError.duplicate(path, key)] : []),
    ...invalidErrors(path, key, checkQualifiedName(key)),
  ]);
}

/** A driver's entry is immutable, except for its volume limit. */
export function validateCSINodeUpdate(node: CSINode, old: CSINode): FieldError[] {
  const before = old.spec?.drivers ?? [];
  const drivers = node.spec?.drivers ?? [];
  const changes = before.flatMap((was) =>
    drivers
      .filter(({ name }) => name === was.name)
      .flatMap((now) => {
        const value = withoutAllocatable(now);
        return immutable(DRIVERS, { value, old: withoutAllocatable(was), printed: goStruct(CSINodeDriver, value) });
      }),
  );
  return [...validateCSINode(node), ...changes];
}

function withoutAllocatable({ allocatable: _, ...driver }: CSINodeDriver): CSINodeDriver {
  return driver;
}
