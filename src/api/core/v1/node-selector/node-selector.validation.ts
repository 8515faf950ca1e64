import { checkLabelValue, nameIsDnsSubdomain } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { validateLabelName } from '../../../meta/v1/label.validation.ts';
import type { NodeSelector } from './node-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from './node-selector-term.ts';

export interface NodeSelectorRules {
  /** Preferences accept any value. */
  readonly allowInvalidValues?: boolean;
}

export function validateNodeSelector(selector: NodeSelector, at: FieldReport, rules: NodeSelectorRules = {}): void {
  const terms = selector.nodeSelectorTerms ?? [];
  const field = at.child('nodeSelectorTerms');
  if (terms.length === 0) field.required('must have at least one node selector term');
  terms.forEach((term, i) => {
    validateNodeSelectorTerm(term, field.index(i), rules);
  });
}

export function validateNodeSelectorTerm(term: NodeSelectorTerm, at: FieldReport, rules: NodeSelectorRules = {}): void {
  term.matchExpressions?.forEach((requirement, i) => {
    validateExpression(requirement, at.child('matchExpressions').index(i), rules);
  });
  term.matchFields?.forEach((requirement, i) => {
    validateField(requirement, at.child('matchFields').index(i));
  });
}

function validateExpression({ key, operator, values = [] }: NodeSelectorRequirement, at: FieldReport, rules: NodeSelectorRules): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) at.child('values').required("must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) at.child('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) at.child('values').required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      break;
    default:
      at.child('operator').invalid(operator ?? '', 'not a valid selector operator');
  }
  at.add(validateLabelName(key, at.child('key').path));
  if (rules.allowInvalidValues) return;
  values.forEach((value, i) => {
    at.child('values').index(i).problems(value, checkLabelValue(value));
  });
}

function validateField({ key, operator, values = [] }: NodeSelectorRequirement, at: FieldReport): void {
  if (operator !== 'In' && operator !== 'NotIn') at.child('operator').invalid(operator ?? '', 'not a valid selector operator');
  else if (values.length !== 1) {
    at.child('values').required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== 'metadata.name') {
    at.child('key').invalid(key ?? '', 'not a valid field selector key');
    return;
  }
  values.forEach((value, i) => {
    at.child('values').index(i).problems(value, nameIsDnsSubdomain(value, false));
  });
}
