import { pushAll } from '#base';
import { checkLabelKey, checkQualifiedName, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { deprecatedNodeLabel } from '../../core/v1/node/node-label.warnings.ts';
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../../core/v1/node-selector/topology-selector-term.ts';
import { immutable, invalidErrors, markDuplicates, supportedValue } from '../../field-checks.ts';
import { goMap } from '../../go-struct.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { StorageClass } from './storage-class.ts';

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;
const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const TOPOLOGIES = Path.of('allowedTopologies');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateStorageClass(storageClass: StorageClass): FieldError[] {
  const { reclaimPolicy, volumeBindingMode } = storageClass;
  const mode = Path.of('volumeBindingMode');
  return [
    ...validateObjectMeta(storageClass.metadata, META),
    ...validateDriver(Path.of('provisioner'), storageClass.provisioner),
    ...validateParameters(storageClass.parameters, { mayBeEmpty: true }),
    ...(reclaimPolicy ? supportedValue(Path.of('reclaimPolicy'), reclaimPolicy, RECLAIM_POLICIES) : []),
    ...(volumeBindingMode === undefined ? [FieldError.required(mode)] : supportedValue(mode, volumeBindingMode, BINDING_MODES)),
    ...validateTopologies(storageClass.allowedTopologies ?? []),
  ];
}

export function validateStorageClassUpdate(storageClass: StorageClass, old: StorageClass): FieldError[] {
  const fixed = (field: 'provisioner' | 'reclaimPolicy' | 'volumeBindingMode') =>
    immutable(Path.of(field), { value: storageClass[field], old: old[field] });
  const { parameters } = storageClass;
  return [
    ...validateStorageClass(storageClass),
    ...validateObjectMetaUpdate(storageClass.metadata, old.metadata),
    ...immutable(Path.of('parameters'), { value: parameters, old: old.parameters, printed: goMap(parameters) }),
    ...fixed('provisioner'),
    ...fixed('reclaimPolicy'),
    ...fixed('volumeBindingMode'),
  ];
}

/** A provisioner's name: a qualified name in any case. */
export function validateDriver(path: Path, driver: string | undefined): readonly FieldError[] {
  if (!driver) return [FieldError.required(path)];
  const name = driver.toLowerCase();
  return invalidErrors(path, name, checkQualifiedName(name));
}

export function validateParameters(
  parameters: Readonly<Record<string, string>> = {},
  { mayBeEmpty }: { mayBeEmpty: boolean },
): FieldError[] {
  const path = Path.of('parameters');
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [FieldError.tooLong(path, MAX_PARAMETERS)];
  const errors = entries.flatMap(([key]) => (key === '' ? [FieldError.invalid(path, key, 'field can not be empty.')] : []));
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > MAX_PARAMETER_BYTES) errors.push(FieldError.tooLong(path, MAX_PARAMETER_BYTES));
  if (!mayBeEmpty && entries.length === 0) errors.push(FieldError.required(path, 'must contain at least one key/value pair'));
  return errors;
}

/** The number of errors is quadratic in the number of terms, so it is limited. */
const MAX_DUPLICATES = 1000;
const NO_TERM = '[]';

function validateTopologies(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const seen = new Map<string, number>();
  let freeErrors = MAX_DUPLICATES;
  return itemErrors(terms, (term, i) => {
    const path = TOPOLOGIES.index(i).child('matchLabelExpressions');
    const errors = validateTerm(path, term.matchLabelExpressions ?? []);
    const key = comparableTerm(term.matchLabelExpressions ?? []);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    // One error for each equal earlier term; upstream compares empty ones with all terms again.
    const count = Math.min(freeErrors, key === NO_TERM ? before + terms.length : before);
    freeErrors -= count;
    return [...errors, ...Array.from({ length: count }, () => FieldError.duplicate(path, ''))];
  });
}

function comparableTerm(requirements: readonly TopologySelectorLabelRequirement[]): string {
  const values = new Map(requirements.map((requirement) => [requirement.key, [...new Set(requirement.values)].sort()]));
  return JSON.stringify([...values].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

function validateTerm(path: Path, requirements: readonly TopologySelectorLabelRequirement[]): FieldError[] {
  const keys = new Set<string>();
  return itemErrors(requirements, ({ key = '', values }, i) => {
    const at = path.index(i);
    const errors = validateValues(at.child('values'), values ?? []);
    pushAll(errors, invalidErrors(at.child('key'), key, checkLabelKey(key)));
    if (keys.has(key)) errors.push(FieldError.duplicate(at.child('key'), key));
    keys.add(key);
    return errors;
  });
}

function validateValues(path: Path, values: readonly string[]): FieldError[] {
  if (values.length === 0) return [FieldError.required(path)];
  const repeated = markDuplicates(values);
  return itemErrors(values, (value, i) => (repeated[i] ? [FieldError.duplicate(path.index(i), value)] : []));
}

export function storageClassWarnings({ allowedTopologies = [] }: StorageClass): readonly string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
    matchLabelExpressions.flatMap(({ key }, j) => {
      const message = deprecatedNodeLabel(key);
      if (message === undefined) return [];
      return [`${TOPOLOGIES.index(i).child('matchLabelExpressions').index(j).child('key')}: ${message}`];
    }),
  );
}
