import { describe, expect, test } from 'vitest';
import { priorityClassBehaviour } from './priority-class.behaviour.ts';

const priorities = priorityClassBehaviour as Required<typeof priorityClassBehaviour>;

describe('a priority class', () => {
  test('preempts unless told', () => {
    expect(priorities.defaults({ metadata: { name: 'a' }, value: 1 }).preemptionPolicy).toBe('PreemptLowerPriority');
  });

  test.each<[string, number, readonly string[]]>([
    ['a', 1000, []],
    ['a', 1_000_000_001, ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000']],
    [
      'system-mine',
      5,
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
      ],
    ],
    [
      'system-node-critical',
      5,
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
      ],
    ],
  ])('called %s of %d', (name, value, errors) => {
    expect(priorities.validate(priorities.defaults({ metadata: { name }, value })).map(String)).toEqual(errors);
  });

  test('keeps its value and whether it preempts', () => {
    const priority = (value: number, preemptionPolicy: string) => ({ metadata: { name: 'a' }, value, preemptionPolicy });
    expect(priorities.validateUpdate(priority(2, 'Never'), priority(1, 'PreemptLowerPriority')).map(String)).toEqual([
      'value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ]);
  });
});
