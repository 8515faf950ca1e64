import { expect, it } from 'vitest';
import { type Component, MetricsRegistry, runComponent, seededRandom, silentLogger, VirtualClock, waitForAbort } from '#base';
import { type SupervisedState, supervise } from './supervise.ts';

/** A component that fails on demand, and counts its starts. */
function fragilePart() {
  let fail: (error: Error) => void = () => {};
  const states: SupervisedState[] = [];
  const counts = { starts: 0, running: 0 };
  let failsToStart = false;
  const start = (): Component => {
    counts.starts++;
    return runComponent(undefined, async ({ signal, ready }) => {
      if (failsToStart) throw new Error('cannot start');
      counts.running++;
      const failure = new Promise<never>((_, reject) => {
        fail = reject;
      });
      ready();
      try {
        await Promise.race([waitForAbort(signal), failure]);
      } finally {
        counts.running--;
      }
    });
  };
  return {
    counts,
    states,
    part: { name: 'fragile', start, onState: (state: SupervisedState) => void states.push(state) },
    fail: (message: string) => fail(new Error(message)),
    breakStart: (isBroken: boolean) => {
      failsToStart = isBroken;
    },
  };
}

function supervised(fragile: ReturnType<typeof fragilePart>) {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const component = supervise(fragile.part, { clock, metrics, random: seededRandom(1), logger: silentLogger });
  return { clock, metrics, component };
}

it('supervision restarts a failed component, and stops a running one', async () => {
  const fragile = fragilePart();
  const { clock, metrics, component } = supervised(fragile);
  await component.ready;
  fragile.fail('poison');
  await clock.advance(2000);
  expect(fragile.counts).toEqual({ starts: 2, running: 1 });
  expect(fragile.states).toEqual(['starting', 'ready', 'failed', 'starting', 'ready']);
  expect(metrics.text()).toContain('sampan_component_restarts_total{component="fragile"} 1');
  await component[Symbol.asyncDispose]();
  expect(fragile.counts.running).toBe(0);
});

it('supervision backs off up to about a minute', async () => {
  const fragile = fragilePart();
  fragile.breakStart(true);
  const { clock, component } = supervised(fragile);
  await clock.advance(600_000);
  expect(fragile.counts.starts).toBeGreaterThan(10);
  expect(fragile.counts.starts).toBeLessThan(20);
  fragile.breakStart(false);
  await clock.advance(80_000);
  await component.ready;
  expect(fragile.counts.running).toBe(1);
  await component[Symbol.asyncDispose]();
});

it('supervision can be stopped during its backoff', async () => {
  const fragile = fragilePart();
  const { clock, component } = supervised(fragile);
  await component.ready;
  fragile.fail('poison');
  await clock.settle();
  await component[Symbol.asyncDispose]();
  expect(fragile.counts).toEqual({ starts: 1, running: 0 });
});

it('supervision passes configuration errors to its caller', () => {
  const start = () => {
    throw new TypeError('"foo" is not in the list of known controllers');
  };
  const deps = { clock: new VirtualClock(), metrics: new MetricsRegistry(), random: seededRandom(1), logger: silentLogger };
  expect(() => supervise({ name: 'x', start }, deps)).toThrow('known controllers');
});
