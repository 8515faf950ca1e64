import { expect, test } from 'vitest';
import { RequestBatcher } from './request-batcher.ts';

test('requests of one turn advance together; later ones in a later turn', async () => {
  const turns = new RequestBatcher();
  const steps: string[] = [];
  const walk = async (name: string) => {
    await turns.next();
    steps.push(`${name}1`);
    await Promise.resolve();
    steps.push(`${name}2`);
  };
  const early = Promise.all([walk('a'), walk('b')]);
  const late = early.then(() => walk('c'));
  await late;
  expect(steps).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'c2']);
});

test('afterNext calls back after the first steps of requests of the same turn, and without requests', async () => {
  const turns = new RequestBatcher();
  const steps: string[] = [];
  const called = new Promise<void>((resolve) =>
    turns.afterNext(() => {
      steps.push('callback');
      resolve();
    }),
  );
  void turns.next().then(() => steps.push('request'));
  await called;
  expect(steps).toEqual(['request', 'callback']);
  await new Promise<void>((resolve) => turns.afterNext(resolve));
});
