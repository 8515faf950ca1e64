import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { core } from '#api';
import { seededRandom } from '#base';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import { FilterResultStore } from './framework/filter-result-cache.ts';
import { Nominations } from './framework/nominations.ts';
import { node, outcome, pod, profileFor } from './placement.test-data.ts';
import { type Placement, scheduleOne } from './schedule-one.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const labelSelector = { matchLabels: { app: 'a' } };
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector }] };
const together = {
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: { topologyKey: ZONE, labelSelector } }],
};
const spread = (whenUnsatisfiable: string) => ({ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable, labelSelector });

/** Several pods of each kind, in any order. */
const KINDS: readonly Partial<core.PodSpec>[] = [
  {},
  { tolerations: [{ key: 'k', operator: 'Exists' }] },
  { nodeSelector: { [ZONE]: 'z1' } },
  { containers: [{ name: 'c', image: 'img', ports: [{ containerPort: 80, hostPort: 80 }] }] as core.Container[] },
  { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1500m', memory: '1Gi' } } }] as core.Container[] },
  { containers: [{ name: 'c', image: 'img', resources: { requests: { 'example.com/device': '1' } } }] as core.Container[] },
  { topologySpreadConstraints: [spread('DoNotSchedule')] },
  { topologySpreadConstraints: [spread('ScheduleAnyway')] },
  { affinity: { podAntiAffinity: apart } as core.Affinity },
  { affinity: { podAffinity: together } as core.Affinity },
];

const nodeShape = fc.record({
  zone: fc.constantFrom('z1', 'z2'),
  cpu: fc.constantFrom('2', '4'),
  device: fc.constantFrom('0', '2'),
  effect: fc.constantFrom('', '', 'NoSchedule', 'PreferNoSchedule'),
  unschedulable: fc.boolean(),
});
const number = fc.nat(6);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      kind: fc.nat(1),
      app: fc.constantFrom('a', 'b'),
      from: number,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat(1000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('set' as const), number, shape: nodeShape }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), number }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('nominate' as const), number, priority: fc.constantFrom(0, 10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const) }) },
);
const history60 = fc.array(step, { minLength: 30, maxLength: 60, size: 'max' });
/** Two kinds at a time, so that many pods of each are placed. */
const twoKinds = fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS));
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A cluster that changes step by step; every pod is placed with cached results of earlier pods, and once more without. */
class History {
  readonly #cache = new SchedulerCache({ labelsOf: () => undefined });
  readonly #profile = profileFor({});
  readonly #filterResults = new FilterResultStore();
  readonly #nominations = new Nominations();
  readonly #placed: core.Pod[] = [];
  readonly #kinds: readonly Partial<core.PodSpec>[];
  #pods = 0;

  constructor(kinds: readonly Partial<core.PodSpec>[]) {
    this.#kinds = kinds;
  }

  take(change: Step): void {
    if (change.do === 'schedule') this.#schedule(change);
    else if (change.do === 'remove') this.#remove(change.which);
    else if (change.do === 'set') this.set(change.number, change.shape);
    else if (change.do === 'drop') this.#cache.removeNode(`n${change.number}`);
    else if (change.do === 'withdraw') this.#nominations.delete('default-awaited');
    else {
      const awaited = pod('awaited', { priority: change.priority, requests: { cpu: '1' } });
      this.#nominations.set(this.#cache.podInfo(awaited), `n${change.number}`);
    }
  }

  #remove(index: number): void {
    const [removed] = this.#placed.splice(index % (this.#placed.length || 1), 1);
    if (removed !== undefined) this.#cache.removePod(removed);
  }

  set(number: number, { zone, cpu, device, effect, unschedulable }: typeof nodeShape extends fc.Arbitrary<infer T> ? T : never): void {
    const taints = effect === '' ? [] : [{ key: 'k', effect }];
    const allocatable = { cpu, 'example.com/device': device };
    this.#cache.setNode(node(`n${number}`, { labels: { [ZONE]: zone }, allocatable, taints, unschedulable }));
  }

  #schedule({ kind, app, from }: { kind: number; app: string; from: number }): void {
    const shape = { labels: { app }, spec: this.#kinds[kind] as Partial<core.PodSpec> };
    const info = this.#cache.podInfo(pod(`p${++this.#pods}`, shape));
    const run = (filterResults: { filterResults?: FilterResultStore }) =>
      scheduleOne(info, {
        profile: this.#profile,
        snapshot: this.#cache,
        nominations: this.#nominations,
        random: seededRandom(this.#pods),
        startIndex: from,
        percentageOfNodesToScore: 0,
        ...filterResults,
      });
    const placement = run({ filterResults: this.#filterResults });
    expect(summary(placement)).toEqual(summary(run({})));
    if (placement.type !== 'placed') return;
    this.#cache.assume(info, placement.node);
    this.#placed.push(info.pod);
  }
}

function summary(placement: Placement): object {
  const { evaluated, feasible } = placement.type === 'placed' ? placement : { evaluated: 0, feasible: 0 };
  return { outcome: outcome(placement), evaluated, feasible };
}

test('cached filter results never change a placement, for any history of the cluster', () => {
  fc.assert(
    fc.property(twoKinds, fc.array(nodeShape, { minLength: 1, maxLength: 6 }), history60, (kinds, nodes, steps) => {
      const history = new History(kinds);
      nodes.forEach((shape, i) => {
        history.set(i, shape);
      });
      for (const change of steps) history.take(change);
    }),
    { numRuns: 150 },
  );
});

test('filter results of equal pods are cached until their node changes', () => {
  const cache = new SchedulerCache({ labelsOf: () => undefined });
  for (let i = 0; i < 20; i++) cache.setNode(node(`n${i}`));
  const profile = profileFor({});
  const fit = profile.plugins.filter.find(({ name }) => name === 'NodeResourcesFit')!;
  let calls = 0;
  const ask = fit.filter!;
  fit.filter = (state, info, at) => {
    calls++;
    return ask(state, info, at);
  };
  const common = { profile, snapshot: cache, nominations: new Nominations(), random: seededRandom(1), percentageOfNodesToScore: 0 };
  const filterResults = new FilterResultStore();
  const schedule = (name: string, cpu: string) => {
    calls = 0;
    const info = cache.podInfo(pod(name, { requests: { cpu } }));
    const placement = scheduleOne(info, { ...common, filterResults, startIndex: 0 });
    if (placement.type === 'placed') cache.assume(info, placement.node);
    return calls;
  };
  // Of the first of its kind nothing is kept.
  expect([schedule('a', '1'), schedule('b', '1'), schedule('c', '1'), schedule('d', '1')]).toEqual([20, 20, 1, 1]);
  expect(schedule('e', '2')).toBe(20);
  cache.setNode(node('n3', { unschedulable: true }));
  // The nodes that took the pods d and e; a cordoned one is filtered before its resources are considered.
  expect(schedule('f', '1')).toBe(2);
  cache.setNode(node('n20'));
  expect(schedule('g', '1')).toBe(20);
});

test('observing a bound pod keeps the cached filter results of its node', () => {
  const cache = new SchedulerCache({ labelsOf: () => undefined });
  cache.setNode(node('n'));
  const incoming = pod('p', { requests: { cpu: '1' } });
  cache.assume(cache.podInfo(incoming), cache.node('n')!);
  const version = () => cache.nodeVersions[0];
  const assumed = version();
  const confirmed = {
    ...incoming,
    metadata: { ...incoming.metadata, generation: 2 },
    spec: { ...incoming.spec, nodeName: 'n' },
  } as core.Pod;
  cache.setPod(confirmed);
  expect([version(), cache.isAssumed('default-p'), cache.node('n')?.pods.get('default-p')?.pod]).toEqual([assumed, false, confirmed]);
  const resized = pod('p', { requests: { cpu: '2' }, on: 'n' });
  cache.setPod({ ...resized, metadata: { ...resized.metadata, generation: 3 } });
  expect(cache.node('n')?.pods.get('default-p')?.requests.milliCpu).toBe(2000);
  expect(version()).not.toBe(assumed);
});
