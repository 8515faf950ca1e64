import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { pressureProblem } from './admission.ts';
import { evictionMessage } from './eviction-message.ts';
import type { PodUse } from './measurements.ts';
import { rankPods } from './rank-pods.ts';

const MI = 1024 ** 2;

function pod(name: string, { priority = 0, memory = '', qosClass = 'BestEffort' } = {}): core.Pod {
  const resources = memory === '' ? {} : { resources: { requests: { memory } } };
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: { priority, containers: [{ name: 'c', ...resources }] },
    status: { qosClass },
  };
}

const use = (memoryMi: number, overrides: Partial<PodUse> = {}): PodUse => ({
  ...{ memoryBytes: memoryMi * MI, volumeBytes: 0, volumeInodes: 0, containers: [{ name: 'c', memoryBytes: memoryMi * MI }] },
  ...overrides,
});
const names = (pods: readonly core.Pod[]) => pods.map(({ metadata }) => metadata.name);

describe('rankPods', () => {
  it('takes those above their requests first, then low priority, then the largest excess', () => {
    const pods = [
      pod('within', { memory: '500Mi' }),
      pod('important', { priority: 1000 }),
      pod('small'),
      pod('large'),
      pod('asked', { memory: '90Mi' }),
    ];
    const uses = new Map([
      ['within', use(400)],
      ['important', use(300)],
      ['small', use(20)],
      ['large', use(50)],
      ['asked', use(100)],
    ]);
    expect(names(rankPods(pods, 'memory.available', { uses, hasImageFs: false }))).toEqual([
      'large',
      'small',
      'asked',
      'important',
      'within',
    ]);
  });

  it('ranks pods without stats first', () => {
    const uses = new Map([['measured', use(1000)]]);
    expect(names(rankPods([pod('measured'), pod('unknown')], 'memory.available', { uses, hasImageFs: false }))[0]).toBe('unknown');
  });

  it('goes by priority, then by count, when processes run out', () => {
    const uses = new Map([
      ['many', use(0, { processes: 500 })],
      ['few', use(0, { processes: 5 })],
      ['important', use(0, { processes: 5000 })],
    ]);
    const pods = [pod('few'), pod('important', { priority: 7 }), pod('many')];
    expect(names(rankPods(pods, 'pid.available', { uses, hasImageFs: false }))).toEqual(['many', 'few', 'important']);
  });

  it('blames writable layers only for the file system that they are on', () => {
    const uses = new Map([
      ['layer', use(0, { containers: [{ name: 'c', rootfsBytes: 100, logBytes: 0 }] })],
      ['volume', use(0, { volumeBytes: 50 })],
    ]);
    const ranked = (signal: 'nodefs.available' | 'imagefs.available', hasImageFs: boolean) =>
      names(rankPods([pod('layer'), pod('volume')], signal, { uses, hasImageFs }))[0];
    expect([ranked('nodefs.available', false), ranked('nodefs.available', true), ranked('imagefs.available', true)]).toEqual([
      'layer',
      'volume',
      'layer',
    ]);
  });

  it('orders any pods totally: each is listed once, and a pod within its request never comes before one beyond', () => {
    const facts = fc.record({
      request: fc.integer({ min: 0, max: 300 }),
      used: fc.integer({ min: 0, max: 300 }),
      priority: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 30 }), (list) => {
        const pods = list.map(({ request, priority }, i) => pod(`p${i}`, { memory: `${request}Mi`, priority }));
        const uses = new Map(list.map(({ used }, i) => [`p${i}`, use(used)]));
        const ranked = names(rankPods(pods, 'memory.available', { uses, hasImageFs: false })).map((name) => Number(name.slice(1)));
        expect(ranked.toSorted((a, b) => a - b)).toEqual(list.map((_, i) => i));
        const beyond = ranked.map((i) => (list[i]?.used as number) > (list[i]?.request as number));
        expect(beyond).toEqual(beyond.toSorted((a, b) => Number(b) - Number(a)));
      }),
    );
  });
});

describe('evictionMessage', () => {
  it('is as upstream words it', () => {
    const observations = new Map([['memory.available' as const, { capacity: 1000 * MI, available: 90 * MI }]]);
    const thresholds = [{ signal: 'memory.available' as const, value: { amount: 100 * MI, text: '100Mi' }, graceMs: 0 }];
    expect(evictionMessage({ resource: 'memory', pod: pod('p', { memory: '10Mi' }), use: use(50), thresholds, observations })).toEqual({
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. Container c was using 50Mi, request is 10Mi, has larger consumption of memory. ',
      annotations: { offending_containers: 'c', offending_containers_usage: '50Mi', starved_resource: 'memory' },
    });
  });
});

describe('pressureProblem', () => {
  const none = { memory: false, disk: false, pid: false };
  const rejected = (conditions: string) => ({ reason: 'Evicted', message: `The node had condition: [${conditions}]. ` });

  it.each([
    ['a node without pressure takes all', pod('p'), none, undefined],
    ['short of memory, best-effort pods are refused', pod('p'), { ...none, memory: true }, rejected('MemoryPressure')],
    ['short of memory, others are taken', pod('p', { qosClass: 'Burstable' }), { ...none, memory: true }, undefined],
    ['short of disk, all are refused', pod('p', { qosClass: 'Guaranteed' }), { ...none, disk: true }, rejected('DiskPressure')],
    [
      'short of both, all are refused',
      pod('p', { qosClass: 'Burstable' }),
      { ...none, memory: true, pid: true },
      rejected('MemoryPressure PIDPressure'),
    ],
    ['critical pods are always taken', pod('p', { priority: 2_000_001_000 }), { ...none, disk: true }, undefined],
  ])('%s', (_, candidate, pressure, expected) => {
    expect(pressureProblem(candidate, pressure)).toEqual(expected);
  });
});
