import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type EvictionState, isCrossed, NO_PRESSURE } from './decide.ts';
import type { Observations } from './measurements.ts';
import { conditionOf, parseThresholds, type Signal, type Threshold } from './thresholds.ts';

const MI = 1024 ** 2;
const memory = (mebibytes: number): Observations => new Map([['memory.available', { capacity: 4096 * MI, available: mebibytes * MI }]]);

function sequence(thresholds: readonly Threshold[], steps: readonly { readonly atMs: number; readonly observations: Observations }[]) {
  let state: EvictionState = NO_PRESSURE;
  return steps.map(({ atMs, observations }) => {
    const decision = decide(state, { thresholds, transitionPeriodMs: 300_000, observations, nowMs: atMs });
    state = decision.state;
    return { conditions: decision.conditions, reclaim: decision.reclaim.map(({ signal }) => signal) };
  });
}

describe('decide', () => {
  it('acts on a hard threshold at once', () => {
    const thresholds = parseThresholds({ evictionHard: { 'memory.available': '100Mi' } });
    expect(sequence(thresholds, [{ atMs: 0, observations: memory(99) }])).toEqual([
      { conditions: ['MemoryPressure'], reclaim: ['memory.available'] },
    ]);
  });

  it('acts on a soft threshold when it was crossed for its grace period without a break', () => {
    const thresholds = parseThresholds({
      evictionHard: {},
      evictionSoft: { 'memory.available': '200Mi' },
      evictionSoftGracePeriod: { 'memory.available': '30s' },
    });
    const steps = [0, 20_000, 30_000, 40_000, 60_000, 70_000].map((atMs) => ({ atMs, observations: memory(atMs === 30_000 ? 201 : 150) }));
    expect(sequence(thresholds, steps).map(({ reclaim }) => reclaim.length)).toEqual([0, 0, 0, 0, 0, 1]);
  });

  it('keeps a condition for the transition period', () => {
    const thresholds = parseThresholds({ evictionHard: { 'memory.available': '100Mi' } });
    const steps = [
      { atMs: 0, observations: memory(50) },
      { atMs: 299_999, observations: memory(500) },
      { atMs: 300_000, observations: memory(500) },
    ];
    expect(sequence(thresholds, steps).map(({ conditions }) => conditions)).toEqual([['MemoryPressure'], ['MemoryPressure'], []]);
  });

  it('continues until minimumEvictionReclaim is reached', () => {
    const thresholds = parseThresholds({
      evictionHard: { 'memory.available': '100Mi' },
      evictionMinimumReclaim: { 'memory.available': '50Mi' },
    });
    const steps = [90, 140, 151].map((left, index) => ({ atMs: index * 10_000, observations: memory(left) }));
    expect(sequence(thresholds, steps).map(({ reclaim }) => reclaim.length)).toEqual([1, 1, 0]);
  });

  it('ignores signals without a measurement', () => {
    expect(sequence(parseThresholds({}), [{ atMs: 0, observations: new Map() }])).toEqual([{ conditions: [], reclaim: [] }]);
  });

  it('is monotonic: with less of everything it never reports or reclaims less', () => {
    const signals: readonly Signal[] = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'pid.available'];
    const amounts = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: signals.length, maxLength: signals.length });
    const thresholds = parseThresholds({
      evictionHard: Object.fromEntries(signals.map((signal) => [signal, '10%'])),
      evictionSoft: Object.fromEntries(signals.map((signal) => [signal, '30%'])),
      evictionSoftGracePeriod: Object.fromEntries(signals.map((signal) => [signal, '0s'])),
    });
    fc.assert(
      fc.property(amounts, amounts, (left, usedBytes) => {
        const observe = (used: (index: number) => number) =>
          new Map(signals.map((signal, i) => [signal, { capacity: 1000, available: Math.max(0, (left[i] as number) - used(i)) }]));
        const next = decide(NO_PRESSURE, { thresholds, transitionPeriodMs: 0, observations: observe(() => 0), nowMs: 0 });
        const less = decide(NO_PRESSURE, {
          thresholds,
          transitionPeriodMs: 0,
          observations: observe((i) => usedBytes[i] as number),
          nowMs: 0,
        });
        expect(less.conditions).toEqual(expect.arrayContaining([...next.conditions]));
        expect(less.reclaim).toEqual(expect.arrayContaining([...next.reclaim]));
      }),
    );
  });

  it('reports exactly the conditions of what was crossed within the transition period, whatever the history', () => {
    const thresholds = parseThresholds({ evictionHard: { 'memory.available': '100Mi', 'pid.available': '50' } });
    const step = fc.record({ gapMs: fc.integer({ min: 1, max: 200_000 }), memory: fc.boolean(), pids: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let atMs = 0;
        let state: EvictionState = NO_PRESSURE;
        const last = new Map<string, number>();
        for (const { gapMs, memory: isShort, pids } of steps) {
          atMs += gapMs;
          const observations: Observations = new Map([
            ['memory.available', { capacity: 1000 * MI, available: isShort ? 99 * MI : 101 * MI }],
            ['pid.available', { capacity: 1000, available: pids ? 49 : 51 }],
          ]);
          for (const threshold of thresholds) if (isCrossed(threshold, observations)) last.set(conditionOf(threshold.signal), atMs);
          const decision = decide(state, { thresholds, transitionPeriodMs: 300_000, observations, nowMs: atMs });
          state = decision.state;
          const expected = [...last].filter(([, seenMs]) => seenMs === atMs || atMs - seenMs < 300_000).map(([condition]) => condition);
          expect(new Set(decision.conditions)).toEqual(new Set(expected));
        }
      }),
    );
  });

  it('takes memory before disk, and hard before soft', () => {
    const thresholds = parseThresholds({
      evictionHard: { 'nodefs.available': '10%' },
      evictionSoft: { 'memory.available': '10%' },
      evictionSoftGracePeriod: { 'memory.available': '0s' },
    });
    const observations: Observations = new Map([
      ['nodefs.available', { capacity: 100, available: 1 }],
      ['memory.available', { capacity: 100, available: 1 }],
    ]);
    expect(sequence(thresholds, [{ atMs: 0, observations }])[0]?.reclaim).toEqual(['memory.available', 'nodefs.available']);
  });
});

describe('parseThresholds', () => {
  it.each([
    [{ evictionHard: { 'cpu.available': '1' } }, 'unsupported eviction signal cpu.available'],
    [{ evictionHard: { 'memory.available': '-1Mi' } }, 'eviction threshold memory.available must be positive: -1Mi'],
    [{ evictionHard: { 'memory.available': '120%' } }, 'eviction percentage threshold memory.available must be <= 100%: 120%'],
    [{ evictionSoft: { 'memory.available': '1Gi' } }, 'grace period must be specified for the soft eviction threshold memory.available'],
    [{ evictionMinimumReclaim: { 'memory.available': '-1' } }, 'negative eviction minimum reclaim specified for memory.available'],
  ])('refuses %j', (config, message) => {
    expect(() => parseThresholds(config)).toThrow(message);
  });

  it('switches thresholds of 0% and 100% off', () => {
    expect(parseThresholds({ evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '100%' } })).toEqual([]);
  });

  it('watches what pods use in all as well as what the machine has', () => {
    expect(parseThresholds({}).map(({ signal }) => signal)).toContain('allocatableMemory.available');
  });
});
