import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { apply, entriesOf, example, ownersOf, pod, TIMES, update } from './apply.test-setup.ts';

const names = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__');
const specs = fc.record(
  {
    replicas: fc.oneof(fc.nat({ max: 3 }), fc.constant(null)),
    containers: fc.uniqueArray(
      fc.record(
        {
          name: names,
          image: names,
          args: fc.array(names, { maxLength: 2 }),
          ports: fc.uniqueArray(fc.record({ containerPort: fc.nat({ max: 3 }) }), { selector: (p) => p.containerPort, maxLength: 3 }),
        },
        { requiredKeys: ['name'] },
      ),
      { selector: (c) => c.name, maxLength: 4 },
    ),
    tags: fc.uniqueArray(names, { maxLength: 4 }),
    selector: fc.dictionary(names, names, { maxKeys: 3 }),
    options: fc.dictionary(names, names, { maxKeys: 3 }),
    anything: fc.jsonValue({ maxDepth: 2 }),
    open: fc.dictionary(names, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, JsonValue>>;

describe('for any objects', () => {
  it('apply is idempotent, and the applier owns what it asked for', () => {
    fc.assert(
      fc.property(specs, specs, (before, spec) => {
        const live = apply(undefined, pod(before), { manager: 'other' });
        const once = apply(live, pod(spec), { force: true });
        const twice = apply(once, pod(spec), { force: false, now: TIMES[3] });
        expect(twice).toEqual(once);
      }),
    );
  });

  it('applying nothing removes again what only this applier added', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const live = apply(undefined, pod(spec));
        const left = apply(live, example());
        expect(entriesOf(left)).toEqual([]);
        expect(left.spec).toBeUndefined();
      }),
    );
  });

  it('an update gives exactly what changed to its manager, and every field keeps at most one updater', () => {
    fc.assert(
      fc.property(specs, specs, (before, after) => {
        const live = update(undefined, pod(before), { manager: 'one' });
        const result = update(live, { ...pod(after), metadata: live.metadata as JsonObject }, { manager: 'two' });
        const owners = Object.values(ownersOf(result)).map((fields) => JSON.stringify(fields));
        expect(owners.length).toBeLessThanOrEqual(2);
        expect(update(result, result, { manager: 'three' })).toEqual(result);
      }),
    );
  });

  it('nothing that was handed in is changed', () => {
    fc.assert(
      fc.property(specs, specs, (before, spec) => {
        const live = apply(undefined, pod(before), { manager: 'other' });
        const config = pod(spec);
        const copies = JSON.stringify([live, config]);
        apply(live, config, { force: true });
        update(live, config);
        expect(JSON.stringify([live, config])).toBe(copies);
      }),
    );
  });
});
