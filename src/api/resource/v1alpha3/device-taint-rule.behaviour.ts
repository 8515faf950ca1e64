import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { FieldReport } from '../../field-report.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell } from '../../table-cells.ts';
import { validateTaint } from '../v1/device.validation.ts';
import { validateDriverName, validateLabelLike, validatePoolName } from '../v1/device-names.validation.ts';
import { DeviceTaintRule, type DeviceTaintSelector } from './device-taint-rule.ts';

const META = { namespaced: false, nameRule: nameIsDnsSubdomain };
const MAX_CONDITIONS = 8;

const table: TableDefinition<DeviceTaintRule> = {
  columns: [
    NAME_COLUMN,
    column('Key', 'The key of the taint.'),
    column('Value', 'The value that belongs to the key.'),
    column('Effect', 'What the taint does.'),
    column('TimeAdded', 'The time since the taint was added.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => {
    const { key = '', value = '', effect = '', timeAdded } = spec?.taint ?? {};
    return [metadata.name, key, value, effect, timeAdded ? sinceCell(timeAdded, now) : '', ageCell(metadata, now)];
  },
};

function validate(rule: DeviceTaintRule): FieldError[] {
  return [...validateObjectMeta(rule.metadata, META), ...validateSpec(rule)];
}

function validateUpdate(rule: DeviceTaintRule, old: DeviceTaintRule): FieldError[] {
  return [...validateObjectMetaUpdate(rule.metadata, old.metadata), ...validateSpec(rule, old)];
}

function validateSpec({ spec }: DeviceTaintRule, old?: DeviceTaintRule): readonly FieldError[] {
  const at = FieldReport.on(Path.of('spec'));
  if (spec?.deviceSelector) validateSelector(spec.deviceSelector, at.child('deviceSelector'));
  const taint = spec?.taint ?? { key: '', effect: '' };
  validateTaint(taint, at.child('taint'), old?.spec?.taint?.effect);
  return at.errors;
}

function validateSelector({ driver, pool, device }: DeviceTaintSelector, at: FieldReport): void {
  if (driver !== undefined) validateDriverName(driver, at.child('driver'));
  if (pool !== undefined) validatePoolName(pool, at.child('pool'));
  if (device !== undefined) validateLabelLike(device, at.child('device'));
}

function validateStatusUpdate(rule: DeviceTaintRule, old: DeviceTaintRule): FieldError[] {
  const { conditions = [] } = rule.status ?? {};
  const at = FieldReport.on(Path.of('status', 'conditions'), validateObjectMetaUpdate(rule.metadata, old.metadata));
  at.add(validateConditions(conditions, at.path));
  if (conditions.length > MAX_CONDITIONS) at.tooMany(conditions.length, MAX_CONDITIONS);
  return at.errors;
}

export const deviceTaintRuleBehaviour: KindBehaviour<DeviceTaintRule> = {
  kind: DeviceTaintRule,
  validate,
  validateUpdate,
  validateStatusUpdate,
  table,
};
