import { expect, it } from 'vitest';
import { type Condition, findCondition, isConditionFalse, isConditionTrue, withCondition, withoutCondition } from './conditions.ts';

const ready: Condition = { type: 'Ready', status: 'True', lastTransitionTime: 't0', reason: 'A' };

it('a condition keeps its transition time while its status stays', () => {
  const [next] = withCondition([ready], { type: 'Ready', status: 'True', reason: 'B' }, 't1');
  expect(next).toEqual({ type: 'Ready', status: 'True', lastTransitionTime: 't0', reason: 'B' });
});

it('a changed condition status sets the transition time', () => {
  expect(withCondition([ready], { type: 'Ready', status: 'False' }, 't1')[0]?.lastTransitionTime).toBe('t1');
});

it('a new condition is appended to a copy of the list', () => {
  const before = [ready];
  const after = withCondition(before, { type: 'Synced', status: 'False' }, 't1');
  expect(after.map(({ type }) => type)).toEqual(['Ready', 'Synced']);
  expect(before).toHaveLength(1);
  expect(isConditionFalse(after, 'Synced')).toBe(true);
  expect(isConditionTrue(after, 'Ready')).toBe(true);
  expect(findCondition(after, 'Other')).toBeUndefined();
  expect(withoutCondition(after, 'Ready').map(({ type }) => type)).toEqual(['Synced']);
});

it('an unchanged condition returns the same list', () => {
  const before = [ready];
  expect(withCondition(before, { type: 'Ready', status: 'True', reason: 'A' }, 't1')).toBe(before);
});
