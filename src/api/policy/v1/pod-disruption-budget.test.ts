import { expect, test } from 'vitest';
import { podDisruptionBudgetBehaviour } from './pod-disruption-budget.behaviour.ts';
import type { PodDisruptionBudgetSpec } from './pod-disruption-budget.ts';

const metadata = { name: 'a', namespace: 'ns' };
const errors = (spec: PodDisruptionBudgetSpec) => podDisruptionBudgetBehaviour.validate?.({ metadata, spec }).map(String);

test.each<[PodDisruptionBudgetSpec, readonly string[]]>([
  [{ minAvailable: '50%', selector: {} }, []],
  [
    { minAvailable: 1, maxUnavailable: 1, selector: {} },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":{},"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [{ minAvailable: '200%' }, ['spec.minAvailable: Invalid value: "200%": must not be greater than 100%']],
  [{ maxUnavailable: -1 }, ['spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0']],
  [
    { unhealthyPodEvictionPolicy: 'Never' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
])('a budget of %j is told %j', (spec, expected) => {
  expect(errors(spec)).toEqual(expected);
});

test('errors in the metadata of a budget are reported once', () => {
  const labelled = { metadata: { ...metadata, name: 'a/b', labels: { 'not a key': 'v' } }, spec: {} };
  expect(podDisruptionBudgetBehaviour.validate?.(labelled)).toEqual([]);
  expect(podDisruptionBudgetBehaviour.validateUpdate?.(labelled, labelled)).toEqual([]);
});

test('the table of budgets shows minAvailable or maxUnavailable', () => {
  const cells = (spec: PodDisruptionBudgetSpec) => podDisruptionBudgetBehaviour.table?.cells({ metadata, spec }, 0).slice(0, 4);
  expect(cells({ minAvailable: '50%' })).toEqual(['a', '50%', 'N/A', 0]);
  expect(cells({ maxUnavailable: 2 })).toEqual(['a', 'N/A', '2', 0]);
});
