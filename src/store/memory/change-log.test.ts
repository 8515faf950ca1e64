import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChangeLog } from './change-log.ts';

const START = 7;

const read = (log: ChangeLog<number>, from = 0) => {
  const seen: string[] = [];
  log.visit(from, (revision, changes) => seen.push(`${revision}: ${changes.join(' ')}`) > 0);
  return seen;
};

describe('a log of changes', () => {
  test('visits the changes from a revision on, until the visitor stops', () => {
    const log = ChangeLog.after<number>(START).with([1, 2]).with([3]).with([4]);
    expect(read(log)).toEqual(['8: 1 2', '9: 3', '10: 4']);
    expect(read(log, 9)).toEqual(['9: 3', '10: 4']);
    expect(read(log, 11)).toEqual([]);
    const seen: number[] = [];
    log.visit(8, (revision) => seen.push(revision) < 2);
    expect(seen).toEqual([8, 9]);
  });

  test('is never changed by those that go on from it, or forget', () => {
    const step = fc.record({ of: fc.nat(), does: fc.constantFrom('with', 'with', 'without'), by: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const logs = [{ log: ChangeLog.after<number>(START), model: [] as string[], next: START + 1 }];
        for (const [i, { of, does, by }] of steps.entries()) {
          const { log, model, next } = logs[of % logs.length]!;
          if (does === 'with') logs.push({ log: log.with([i]), model: [...model, `${next}: ${i}`], next: next + 1 });
          else logs.push({ log: log.without(START + by), model: model.filter((line) => Number.parseInt(line, 10) > START + by), next });
        }
        for (const { log, model } of logs) {
          expect(read(log)).toEqual(model);
          expect(log.size).toBe(model.length);
        }
      }),
    );
  });

  test('that forgets all can go on', () => {
    const log = ChangeLog.after<number>(START)
      .with([1])
      .with([2])
      .without(START + 2);
    expect(read(log.with([3]))).toEqual(['10: 3']);
  });
});
