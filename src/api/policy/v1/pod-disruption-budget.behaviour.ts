import { type FieldError, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { validateAtMost100Percent, validateIntOrPercent } from '../../core/v1/pod-template/int-or-percent.validation.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { PodDisruptionBudget, PodDisruptionBudgetSpec } from './pod-disruption-budget.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

function validateSpec(spec: PodDisruptionBudgetSpec, allowInvalidValues: boolean): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const at = FieldReport.on(SPEC);
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    at.invalid(goStruct(PodDisruptionBudgetSpec, spec), 'minAvailable and maxUnavailable cannot be both set');
  }
  if (minAvailable !== undefined) validateAmount(minAvailable, at.child('minAvailable'));
  if (maxUnavailable !== undefined) validateAmount(maxUnavailable, at.child('maxUnavailable'));
  at.add(validateLabelSelector(selector, at.child('selector').path, { allowInvalidValues }));
  if (policy !== undefined) at.child('unhealthyPodEvictionPolicy').oneOf(policy, ['AlwaysAllow', 'IfHealthyBudget']);
  return at.errors;
}

function validateAmount(amount: number | string, at: FieldReport): void {
  validateIntOrPercent(amount, at);
  validateAtMost100Percent(amount, at);
}

// Budgets have no metadata validation of their own, only the generic one.
function validateBudget({ spec }: PodDisruptionBudget): FieldError[] {
  return validateSpec(spec ?? {}, false);
}

function validateBudgetUpdate({ spec }: PodDisruptionBudget, old: PodDisruptionBudget): FieldError[] {
  return validateSpec(spec ?? {}, validateLabelSelector(old.spec?.selector, SPEC).length > 0);
}

function validateStatusUpdate({ status }: PodDisruptionBudget): FieldError[] {
  const at = FieldReport.on(STATUS, validateConditions(status?.conditions, STATUS.child('conditions')));
  for (const count of COUNTS) at.child(count).nonNegative(status?.[count]);
  return at.errors;
}

const podDisruptionBudgetTable: TableDefinition<PodDisruptionBudget> = {
  columns: [
    NAME_COLUMN,
    column('Min Available', 'How many pods must stay available.'),
    column('Max Unavailable', 'How many pods may be unavailable.'),
    column('Allowed Disruptions', 'How many pods may be evicted now.', { type: 'integer' }),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.minAvailable === undefined ? 'N/A' : String(spec.minAvailable),
    spec?.maxUnavailable === undefined ? 'N/A' : String(spec.maxUnavailable),
    status?.disruptionsAllowed ?? 0,
    ageCell(metadata, now),
  ],
};

export const podDisruptionBudgetBehaviour: KindBehaviour<PodDisruptionBudget> = {
  kind: PodDisruptionBudget,
  validate: validateBudget,
  validateUpdate: validateBudgetUpdate,
  validateStatusUpdate,
  table: podDisruptionBudgetTable,
};
