import type { FieldReport } from '../../../field-report.ts';
import { validateLabelSelector } from '../../../meta/v1/label.validation.ts';
import { validateLabelKeys } from './affinity.validation.ts';
import type { TopologySpreadConstraint } from './pod-spec.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const NODE_POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], at: FieldReport): void {
  const left = new Map<string, number>();
  for (const constraint of constraints) left.set(identityOf(constraint), (left.get(identityOf(constraint)) ?? 0) + 1);
  constraints.forEach((constraint, i) => {
    const field = at.index(i);
    const identity = identityOf(constraint);
    left.set(identity, left.get(identity)! - 1);
    field.child('maxSkew').positive(constraint.maxSkew);
    if (!constraint.topologyKey) field.child('topologyKey').required('can not be empty');
    field.child('whenUnsatisfiable').oneOf(constraint.whenUnsatisfiable, ACTIONS);
    // Reports each constraint that has a later duplicate.
    if (left.get(identity)! > 0) field.child('{topologyKey, whenUnsatisfiable}').duplicate(identity);
    validateMinDomains(constraint, field.child('minDomains'));
    validateNodePolicy(constraint.nodeAffinityPolicy, field.child('nodeAffinityPolicy'));
    validateNodePolicy(constraint.nodeTaintsPolicy, field.child('nodeTaintsPolicy'));
    validateLabelKeys(constraint, field);
    if (constraint.labelSelector) field.add(validateLabelSelector(constraint.labelSelector, field.child('labelSelector').path));
  });
}

function identityOf({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return `{${topologyKey}, ${whenUnsatisfiable}}`;
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
