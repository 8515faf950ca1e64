import { core } from '#api';
import { type MaybePromise, mapMaybePromise } from '#base';
import { markRecurring, oncePerValue } from '#machinery';
import type { Benchmark } from './harness.ts';
import { typicalPod } from './typical-pod.ts';

/** Code that is less plain than it could be, each beside the plain way: what shows no gain here goes. */

const STEPS = 20;
const step = (n: number): MaybePromise<number> => n + 1;

/** As a write passes admission: most steps have their answer at once. */
function passSteps(): MaybePromise<number> {
  let value: MaybePromise<number> = 0;
  for (let i = 0; i < STEPS; i++) value = mapMaybePromise(value, step);
  return value;
}

async function awaitSteps(): Promise<number> {
  let value = 0;
  for (let i = 0; i < STEPS; i++) value = await step(value);
  return value;
}

const validate = () => core.podBehaviour.validate?.(typicalPod as never);
const spec = { ...(typicalPod as unknown as { readonly spec: object }).spec };
markRecurring(spec);
const remembered = oncePerValue((_spec: object) => validate() ?? []);

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'shortcuts/maybe-promise: 20 steps without a wait',
    baseline: { name: 'await', run: awaitSteps },
    subject: { name: 'mapMaybePromise', run: () => void passSteps() },
  },
  {
    kind: 'micro',
    name: 'shortcuts/recurring-spec: validate a pod of a template',
    baseline: { name: 'validate', run: () => void validate() },
    subject: { name: 'oncePerValue', run: () => void remembered(spec) },
  },
];
