import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { CpuManager, type CpuManagerOptions } from './cpu-manager.ts';
import { formatCpuSet, intersection, parseCpuSet } from './cpu-set.ts';
import type { MachineTopology } from './machine-topology.ts';
import { MemoryManager } from './memory-manager.ts';
import { ResourceManagers } from './resource-managers.ts';
import { StateFile } from './state-file.ts';
import { takeCpus, takeCpusAcrossNuma } from './take-cpus.ts';
import { count, mergeHints, type TopologyHint, type TopologyPolicy } from './topology-hints.ts';

const GI = 1024 ** 3;

/** Sockets of NUMA nodes of cores of threads; siblings are numbered apart, as on most machines. */
function machine({ sockets = 1, numaPerSocket = 1, cores = 4, threads = 2 } = {}): MachineTopology {
  const total = sockets * numaPerSocket * cores;
  const cpus = Array.from({ length: total * threads }, (_, id) => {
    const core = id % total;
    const numaNode = Math.floor(core / cores);
    return { id, core, numaNode, socket: Math.floor(numaNode / numaPerSocket) };
  });
  const numaNodes = Array.from({ length: sockets * numaPerSocket }, (_, id) => ({ id, memoryBytes: 16 * GI }));
  return { cpus, numaNodes };
}

const machines = fc
  .record({
    sockets: fc.integer({ min: 1, max: 2 }),
    numaPerSocket: fc.integer({ min: 1, max: 2 }),
    cores: fc.integer({ min: 1, max: 4 }),
    threads: fc.integer({ min: 1, max: 2 }),
  })
  .map(machine);

function pod(name: string, cpu: string, { memory = '1Gi', qosClass = 'Guaranteed' } = {}): core.Pod {
  const resources = { requests: { cpu, memory }, limits: { cpu, memory } };
  return { metadata: { name, namespace: 'default', uid: name }, spec: { containers: [{ name: 'c', resources }] }, status: { qosClass } };
}

describe('sets of processors', () => {
  it('are written as the kernel does, and read again', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 200 })), (cpus) => {
        const set = cpus.toSorted((a, b) => a - b);
        expect(parseCpuSet(formatCpuSet(set))).toEqual(set);
      }),
    );
    expect(formatCpuSet([0, 1, 2, 5, 7, 8])).toBe('0-2,5,7-8');
  });

  it.each(['a', '1-', '3-1', '1,,2', '-1'])('%s is none', (text) => {
    expect(() => parseCpuSet(text)).toThrow('is no set of processors');
  });
});

describe('takeCpus', () => {
  it('takes exactly so many of what is free, whatever the machine', () => {
    const cases = machines.chain((topology) =>
      fc.record({
        topology: fc.constant(topology),
        available: fc.subarray(topology.cpus.map(({ id }) => id)),
        amount: fc.integer({ min: 0, max: topology.cpus.length }),
        isSpread: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(cases, ({ topology, available, amount, isSpread }) => {
        for (const take of [takeCpus, takeCpusAcrossNuma]) {
          const cpus = take(topology, available, amount, { isSpread });
          if (amount > available.length) expect(cpus).toBeUndefined();
          else expect([cpus?.length, intersection(cpus ?? [], available).length]).toEqual([amount, amount]);
        }
      }),
    );
  });

  it('on an empty machine never touches more sockets or nodes than it needs to', () => {
    const cases = machines.chain((topology) =>
      fc.record({ topology: fc.constant(topology), amount: fc.integer({ min: 1, max: topology.cpus.length }) }),
    );
    fc.assert(
      fc.property(cases, ({ topology, amount }) => {
        const all = topology.cpus.map(({ id }) => id);
        const cpus = new Set(takeCpus(topology, all, amount));
        for (const level of ['numaNode', 'core'] as const) {
          const parts = new Set(topology.cpus.map((cpu) => cpu[level])).size;
          const used = new Set(topology.cpus.filter(({ id }) => cpus.has(id)).map((cpu) => cpu[level])).size;
          expect(used).toBe(Math.ceil(amount / (all.length / parts)));
        }
      }),
    );
  });

  it.each([
    ['a whole node where one is free', machine({ sockets: 2, cores: 2 }), '0-7', 4, '0-1,4-5'],
    ['both threads of a core', machine(), '0-7', 2, '0,4'],
    ['from the core that is begun, for one thread', machine(), '0-3,5-7', 1, '0'],
    ['what is left, when cores are in pieces', machine(), '0-1,6', 2, '0-1'],
  ])('takes %s', (_, topology, available, amount, expected) => {
    expect(formatCpuSet(takeCpus(topology, parseCpuSet(available), amount) ?? [])).toBe(expected);
  });

  it('spreads over cores when asked to', () => {
    expect(formatCpuSet(takeCpus(machine(), parseCpuSet('0-7'), 3, { isSpread: true }) ?? [])).toBe('0-2');
  });

  it('takes the same number from each node when asked to and one does not hold all', () => {
    const topology = machine({ sockets: 2, cores: 2, threads: 1 });
    expect(formatCpuSet(takeCpusAcrossNuma(topology, parseCpuSet('0,2-3'), 2) ?? [])).toBe('2-3');
    expect(formatCpuSet(takeCpusAcrossNuma(topology, parseCpuSet('0,2'), 2) ?? [])).toBe('0,2');
  });
});

describe('mergeHints', () => {
  const hint = (nodes: number, isPreferred = true): TopologyHint => ({ nodes, isPreferred });
  const merged = (policy: TopologyPolicy, ...lists: (readonly TopologyHint[] | undefined)[]) => {
    const { hint: best, isAdmitted } = mergeHints(policy, [0, 1], lists);
    return [best.nodes, best.isPreferred, isAdmitted];
  };

  it.each([
    ['what all prefer', 'restricted', [[hint(1), hint(2)], [hint(2)]], [2, true, true]],
    ['nothing, when they disagree', 'restricted', [[hint(1)], [hint(2)]], [3, false, false]],
    ['anything, when nobody minds', 'restricted', [undefined], [3, true, true]],
    ['nothing, when one has nothing', 'restricted', [[], [hint(1)]], [1, false, false]],
    [
      'the one that is as wide as the widest need, on best effort',
      'best-effort',
      [[hint(3, false)], [hint(1), hint(3, false)]],
      [3, false, true],
    ],
    ['no two nodes, when it must be one', 'single-numa-node', [[hint(3)]], [undefined, false, false]],
    [
      'a single node',
      'single-numa-node',
      [
        [hint(1), hint(3, false)],
        [hint(1), hint(2)],
      ],
      [1, true, true],
    ],
  ] as const)('chooses %s', (_, policy, lists, expected) => {
    expect(merged(policy, ...lists)).toEqual(expected);
  });

  it('under single-numa-node admits only what fits on one node, and restricted admits whatever best-effort prefers', () => {
    const hints = fc.array(fc.record({ nodes: fc.integer({ min: 1, max: 3 }), isPreferred: fc.boolean() }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(hints, { maxLength: 3 }), (lists) => {
        const single = mergeHints('single-numa-node', [0, 1], lists);
        if (single.isAdmitted && single.hint.nodes !== undefined) expect(count(single.hint.nodes)).toBe(1);
        const [restricted, lenient] = [mergeHints('restricted', [0, 1], lists), mergeHints('best-effort', [0, 1], lists)];
        expect(restricted.isAdmitted).toBe(lenient.hint.isPreferred);
        expect(lenient.isAdmitted).toBe(true);
      }),
    );
  });
});

describe('managers of the static policies', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'managers-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const cpuManager = async (topology: MachineTopology, options: CpuManagerOptions = {}, name = 'cpu') => {
    const manager = new CpuManager({ topology, options, reservedCpus: [], reservedCount: 1 }, new StateFile(path.join(directory, name)));
    await manager.open();
    return manager;
  };
  const managersOf = (
    topology: MachineTopology,
    providers: ConstructorParameters<typeof ResourceManagers>[0]['providers'],
    policy: TopologyPolicy = 'none',
  ) => new ResourceManagers({ providers, policy, scope: 'container', numaNodes: topology.numaNodes.map(({ id }) => id) });

  it('give whole processors to guaranteed pods only, and leave the others what is shared', async () => {
    const topology = machine();
    const cpus = await cpuManager(topology);
    const managers = managersOf(topology, [cpus]);
    expect(await managers.admit(pod('own', '2'))).toBeUndefined();
    expect(await managers.admit(pod('fraction', '1500m'))).toBeUndefined();
    expect(await managers.admit(pod('burstable', '2', { qosClass: 'Burstable' }))).toBeUndefined();
    expect(formatCpuSet(cpus.cpusOf('own', 'c') ?? [])).toBe('1,5');
    expect([cpus.cpusOf('fraction', 'c'), cpus.cpusOf('burstable', 'c')]).toEqual([undefined, undefined]);
    expect(formatCpuSet(cpus.sharedCpus)).toBe('0,2-4,6-7');
  });

  it('reject pods that do not fit, in upstream’s words, and reserve nothing', async () => {
    const topology = machine({ cores: 2, threads: 2 });
    const cpus = await cpuManager(topology, { 'full-pcpus-only': true });
    const managers = managersOf(topology, [cpus]);
    expect(await managers.admit(pod('odd', '1'))).toEqual({
      reason: 'SMTAlignmentError',
      message: 'SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2',
    });
    expect(await managers.admit(pod('many', '4'))).toEqual({
      reason: 'UnexpectedAdmissionError',
      message: 'Allocate failed due to not enough cpus available to satisfy request: requested=4, available=3, which is unexpected',
    });
    expect(cpus.podUids).toEqual([]);
  });

  it('keep a pod on one NUMA node where the policy asks for it', async () => {
    const topology = machine({ sockets: 2, cores: 2, threads: 1 });
    const cpus = await cpuManager(topology);
    const memory = new MemoryManager(
      { numaNodes: topology.numaNodes, reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }] },
      new StateFile(path.join(directory, 'memory')),
    );
    const managers = managersOf(topology, [cpus, memory], 'single-numa-node');
    expect(await managers.admit(pod('first', '2', { memory: '15Gi' }))).toBeUndefined();
    expect([cpus.cpusOf('first', 'c'), memory.nodesOf('first', 'c')]).toEqual([[2, 3], [1]]);
    expect(await managers.admit(pod('second', '2'))).toEqual({
      reason: 'TopologyAffinityError',
      message: 'Resources cannot be allocated with Topology locality',
    });
    expect(await managers.admit(pod('third', '1', { memory: '15Gi' }))).toBeUndefined();
    expect([cpus.cpusOf('third', 'c'), memory.nodesOf('third', 'c')]).toEqual([[1], [0]]);
  });

  it('never give a processor to two pods, nor one of the reserved, however pods come and go', async () => {
    const steps = fc.array(
      fc.record({ name: fc.integer({ min: 0, max: 5 }), amount: fc.integer({ min: 1, max: 5 }), leaves: fc.boolean() }),
      { maxLength: 25 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(machines, steps, async (topology, list) => {
        const cpus = await cpuManager(topology, {}, `run-${run++}`);
        const managers = managersOf(topology, [cpus], 'best-effort');
        for (const { name, amount, leaves } of list) {
          if (leaves) await cpus.release(`p${name}`);
          else await managers.admit(pod(`p${name}`, String(amount)));
          const assigned = cpus.podUids.flatMap((uid) => cpus.cpusOf(uid, 'c') ?? []);
          expect(new Set(assigned).size).toBe(assigned.length);
          expect(assigned.length + cpus.sharedCpus.length).toBe(topology.cpus.length);
          expect(assigned).not.toContain(
            takeCpus(
              topology,
              topology.cpus.map(({ id }) => id),
              1,
            )?.[0],
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  it('restore allocations after a restart, and do not start with a damaged checkpoint', async () => {
    const topology = machine();
    const before = await cpuManager(topology);
    await managersOf(topology, [before]).admit(pod('p', '2'));
    expect((await cpuManager(topology)).cpusOf('p', 'c')).toEqual(before.cpusOf('p', 'c'));
    const file = path.join(directory, 'cpu');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"1,5"', '"2,6"'));
    await expect(cpuManager(topology)).rejects.toThrow('is damaged: drain the node and remove the file');
  });

  it('do not start on the state of another machine', async () => {
    await managersOf(machine(), [await cpuManager(machine())]).admit(pod('p', '6'));
    await expect(cpuManager(machine({ cores: 2 }))).rejects.toThrow('drain the node and remove the file');
  });

  it('hold as much memory of a node as it has without what is reserved', async () => {
    const topology = machine({ sockets: 2 });
    const memory = new MemoryManager(
      { numaNodes: topology.numaNodes, reservedMemory: [{ numaNode: 0, limits: { memory: '6Gi' } }] },
      new StateFile(path.join(directory, 'memory')),
    );
    const managers = managersOf(topology, [memory], 'best-effort');
    for (const [name, amount] of [
      ['a', '10Gi'],
      ['b', '12Gi'],
      ['c', '5Gi'],
    ] as const) {
      const rejection = await managers.admit(pod(name, '1500m', { memory: amount }));
      expect([name, rejection?.reason]).toEqual([name, name === 'c' ? 'UnexpectedAdmissionError' : undefined]);
    }
    expect([memory.nodesOf('a', 'c'), memory.nodesOf('b', 'c')]).toEqual([[0], [1]]);
  });
});
