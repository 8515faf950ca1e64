import { pushAll } from '#base';
import { checkQualifiedName, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { Lease, LeaseSpec } from './lease.ts';

const STRATEGIES = ['OldestEmulationVersion'];
const SPEC = Path.of('spec');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

export function validateLease({ metadata, spec }: Lease): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateSpec(spec ?? {})];
}

export function validateLeaseUpdate({ metadata, spec }: Lease, old: Lease): FieldError[] {
  return [...validateObjectMetaUpdate(metadata, old.metadata, { anyFinalizer: true }), ...validateSpec(spec ?? {})];
}

function validateSpec({ leaseDurationSeconds, leaseTransitions, strategy, preferredHolder }: LeaseSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(FieldError.invalid(SPEC.child('leaseDurationSeconds'), leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(FieldError.invalid(SPEC.child('leaseTransitions'), leaseTransitions, 'must be greater than or equal to 0'));
  }
  if (strategy !== undefined) pushAll(errors, validateLeaseStrategy(strategy));
  if (preferredHolder && !strategy) {
    errors.push(FieldError.forbidden(SPEC.child('preferredHolder'), 'may only be specified if `strategy` is defined'));
  }
  return errors;
}

/** The path repeats the field's name, as upstream. */
export function validateLeaseStrategy(strategy: string): readonly FieldError[] {
  const path = SPEC.child('strategy', 'strategy');
  if (strategy.includes('/')) return invalidErrors(path, strategy, checkQualifiedName(strategy));
  return STRATEGIES.includes(strategy) ? [] : [FieldError.notSupported(path, strategy, STRATEGIES)];
}
