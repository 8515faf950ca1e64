import { nameIsDnsLabel } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { validateLabelName, validateLabelSelector } from '../../../meta/v1/label.validation.ts';
import type { LabelSelector } from '../../../meta/v1/label-selector.ts';
import { validateNodeSelector, validateNodeSelectorTerm } from '../node-selector/node-selector.validation.ts';
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from './affinity.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, at: FieldReport): void {
  if (nodeAffinity) validateNodeAffinity(nodeAffinity, at.child('nodeAffinity'));
  if (podAffinity) validatePodAffinity(podAffinity, at.child('podAffinity'));
  if (podAntiAffinity) validatePodAffinity(podAntiAffinity, at.child('podAntiAffinity'));
}

function validateNodeAffinity(affinity: NodeAffinity, at: FieldReport): void {
  const required = affinity[REQUIRED];
  if (required) validateNodeSelector(required, at.child(REQUIRED));
  affinity[PREFERRED]?.forEach(({ weight, preference }, i) => {
    const field = at.child(PREFERRED).index(i);
    validateWeight(weight, field);
    validateNodeSelectorTerm(preference ?? {}, field.child('preference'), { allowInvalidValues: true });
  });
}

function validatePodAffinity(affinity: PodAffinity, at: FieldReport): void {
  affinity[REQUIRED]?.forEach((term, i) => {
    validateTerm(term, at.child(REQUIRED).index(i));
  });
  affinity[PREFERRED]?.forEach(({ weight, podAffinityTerm }, i) => {
    const field = at.child(PREFERRED).index(i);
    validateWeight(weight, field);
    validateTerm(podAffinityTerm ?? ({} as PodAffinityTerm), field.child('podAffinityTerm'));
  });
}

function validateWeight(weight = 0, at: FieldReport): void {
  if (weight <= 0 || weight > 100) at.child('weight').invalid(weight, 'must be in the range 1-100');
}

function validateTerm(term: PodAffinityTerm, at: FieldReport): void {
  at.add(validateLabelSelector(term.labelSelector, at.child('labelSelector').path));
  at.add(validateLabelSelector(term.namespaceSelector, at.child('namespaceSelector').path));
  for (const namespace of term.namespaces ?? []) at.child('namespace').problems(namespace, nameIsDnsLabel(namespace, false));
  validateLabelKeys(term, at);
  if (!term.topologyKey) at.child('topologyKey').required('can not be empty');
  at.add(validateLabelName(term.topologyKey, at.child('topologyKey').path));
}

/** Label keys whose values come from the pod itself. */
export interface LabelKeys {
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
  readonly labelSelector?: LabelSelector;
}

export function validateLabelKeys(keys: LabelKeys, at: FieldReport): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = keys;
  validateKeys(matchLabelKeys, at.child('matchLabelKeys'), labelSelector);
  validateKeys(mismatchLabelKeys, at.child('mismatchLabelKeys'), labelSelector);
  if (labelSelector && matchLabelKeys.length > 0) validateNotInSelector(matchLabelKeys, at, labelSelector);
  const mismatching = new Set(mismatchLabelKeys);
  matchLabelKeys.forEach((key, i) => {
    if (!mismatching.has(key)) return;
    at.child('matchLabelKeys').index(i).invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  });
}

function validateKeys(keys: readonly string[], at: FieldReport, selector: LabelSelector | undefined): void {
  if (keys.length === 0) return;
  if (!selector) {
    at.forbidden('must not be specified when labelSelector is not set');
    return;
  }
  keys.forEach((key, i) => {
    at.add(validateLabelName(key, at.index(i).path));
  });
}

// The server adds one expression per key to the selector; another one must be the client's.
function validateNotInSelector(keys: readonly string[], at: FieldReport, selector: LabelSelector): void {
  const seen = new Set(Object.keys(selector.matchLabels ?? {}));
  const lastIndex = new Map(keys.map((key, i) => [key, i]));
  for (const { key } of selector.matchExpressions ?? []) {
    const index = lastIndex.get(key);
    if (index !== undefined && seen.has(key)) at.index(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
    seen.add(key);
  }
}
