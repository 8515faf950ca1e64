import { expect, test } from 'vitest';
import { seededRandom } from '../random.ts';
import { realClock } from '../time/clock.ts';
import type { Span } from './span.ts';
import { Tracer } from './tracer.ts';

function recorder() {
  const names: string[] = [];
  const exporter = { add: ({ name }: { readonly name?: string }) => void names.push(name ?? '') };
  return { names, tracer: new Tracer({ exporter, samplingRatePerMillion: 1_000_000, clock: realClock, random: seededRandom(1) }) };
}

const CHILD = { attributes: () => ({}) };

test('work within a span may have spans of its own, also after it has waited', async () => {
  const { names, tracer } = recorder();
  await tracer.within(tracer.start('outer'), async () => {
    await Promise.resolve();
    await tracer.child('inner', CHILD, async () => tracer.child('innermost', CHILD, () => {}));
  });
  expect(names).toEqual(['innermost', 'inner', 'outer']);
});

test('work that nobody traces has no spans', () => {
  const { names, tracer } = recorder();
  expect(tracer.child('alone', CHILD, (span?: Span) => span)).toBeUndefined();
  expect(names).toEqual([]);
});

test('work that a span started records no spans once the span has ended', async () => {
  const { names, tracer } = recorder();
  let goOn = () => {};
  const isOver = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let late: Promise<void> | undefined;
  tracer.within(tracer.start('request'), () => {
    late = isOver.then(() => tracer.child('late', CHILD, () => {}));
  });
  goOn();
  await late;
  expect(names).toEqual(['request']);
});
