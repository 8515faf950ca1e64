import type { FieldReport } from '../../field-report.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { validateLabelKeys } from './affinity.validation.ts';
import type { TopologySpreadConstraint } from './pod-spec.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const NODE_POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], at: FieldReport): void {
  constraints.forEach((constraint, i) => {
    const field = at.index(i);
    field.child('maxSkew').positive(constraint.maxSkew);
    if (!constraint.topologyKey) field.child('topologyKey').required('can not be empty');
    field.child('whenUnsatisfiable').oneOf(constraint.whenUnsatisfiable, ACTIONS);
    validateNotRepeated(constraint, field, constraints.slice(i + 1));
    validateMinDomains(constraint, field.child('minDomains'));
    validateNodePolicy(constraint.nodeAffinityPolicy, field.child('nodeAffinityPolicy'));
    validateNodePolicy(constraint.nodeTaintsPolicy, field.child('nodeTaintsPolicy'));
    validateLabelKeys(constraint, field);
    if (constraint.labelSelector) field.add(validateLabelSelector(constraint.labelSelector, field.child('labelSelector').path));
  });
}

function validateNotRepeated(
  { topologyKey, whenUnsatisfiable }: TopologySpreadConstraint,
  at: FieldReport,
  rest: readonly TopologySpreadConstraint[],
): void {
  const repeats = rest.some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
  if (repeats) at.child('{topologyKey, whenUnsatisfiable}').duplicate(`{${topologyKey}, ${whenUnsatisfiable}}`);
}

function validateMinDomains({ minDomains, whenUnsatisfiable }: TopologySpreadConstraint, at: FieldReport): void {
  if (minDomains === undefined) return;
  at.positive(minDomains);
  if (whenUnsatisfiable === 'DoNotSchedule') return;
  at.invalid(minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`);
}

function validateNodePolicy(policy: string | undefined, at: FieldReport): void {
  if (policy !== undefined) at.oneOf(policy, NODE_POLICIES);
}
