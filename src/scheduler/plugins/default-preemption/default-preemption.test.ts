import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { core, policy } from '#api';
import { type ClusterState, node, place, pod } from '../../placement.test-data.ts';

const preemptor = (cpu: string, overrides: Partial<core.PodSpec> = {}) =>
  pod('p', { requests: { cpu }, priority: 1000, spec: { priority: 1000, ...overrides } });
const victim = (
  name: string,
  { cpu, priority, on, labels = {} }: { cpu: string; priority: number; on: string; labels?: Record<string, string> },
) => pod(name, { requests: { cpu }, priority, on, labels });

function preempted(incoming: core.Pod, state: ClusterState): { node?: string | undefined; victims: string[]; message: string } {
  const placement = place(incoming, state);
  if (placement.type !== 'unschedulable') throw new Error(`the pod was ${placement.type}`);
  const { preemption, message } = placement;
  return { node: preemption?.nominatedNode, victims: (preemption?.victims ?? []).map(({ name }) => name).sort(), message };
}

describe('preemption', () => {
  test('takes as few victims as needed, the least important first', () => {
    const pods = [
      victim('low', { cpu: '1', priority: 1, on: 'n' }),
      victim('mid', { cpu: '1', priority: 5, on: 'n' }),
      victim('high', { cpu: '2', priority: 2000, on: 'n' }),
    ];
    expect(preempted(preemptor('1'), { nodes: [node('n')], pods })).toMatchObject({ node: 'n', victims: ['low'] });
  });

  test('chooses the node whose most important victim matters least', () => {
    const pods = [victim('a', { cpu: '4', priority: 100, on: 'n1' }), victim('b', { cpu: '4', priority: 10, on: 'n2' })];
    expect(preempted(preemptor('4'), { nodes: [node('n1'), node('n2')], pods })).toMatchObject({ node: 'n2', victims: ['b'] });
  });

  test('spares what a disruption budget protects when another node costs no violation', () => {
    const pods = [
      victim('a', { cpu: '4', priority: 1, on: 'n1', labels: { app: 'db' } }),
      victim('b', { cpu: '4', priority: 10, on: 'n2' }),
    ];
    const budget = {
      metadata: { name: 'b', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { disruptionsAllowed: 0 },
    } as unknown as policy.PodDisruptionBudget;
    expect(preempted(preemptor('4'), { nodes: [node('n1'), node('n2')], pods, budgets: [budget] })).toMatchObject({ node: 'n2' });
  });

  test('is not for pods whose policy says never', () => {
    const pods = [victim('a', { cpu: '4', priority: 1, on: 'n' })];
    const { node: nominated, message } = preempted(preemptor('4', { preemptionPolicy: 'Never' }), { nodes: [node('n')], pods });
    expect(nominated).toBeUndefined();
    expect(message).toMatch(/preemption: not eligible due to preemptionPolicy=Never\.$/);
  });

  test('waits for victims that are still going on the nominated node', () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
    const going = pod('a', {
      requests: { cpu: '4' },
      on: 'n',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      status: { conditions } as core.PodStatus,
    });
    const incoming = { ...preemptor('4'), status: { nominatedNodeName: 'n' } as core.PodStatus };
    expect(preempted(incoming, { nodes: [node('n')], pods: [going] }).message).toContain(
      'not eligible due to a terminating pod on the nominated node.',
    );
  });

  test('never takes a victim that need not go, nor one of equal or higher priority', () => {
    const shapes = fc.array(
      fc.record({ cpu: fc.integer({ min: 1, max: 4 }), priority: fc.integer({ min: 0, max: 1500 }), on: fc.integer({ min: 0, max: 2 }) }),
      {
        maxLength: 9,
      },
    );
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 6 }), (running, cpu) => {
        const names = ['n0', 'n1', 'n2'];
        const left = new Map(names.map((name) => [name, 6]));
        const pods = running.flatMap(({ cpu: size, priority, on }, i) => {
          const name = names[on] as string;
          if ((left.get(name) as number) < size) return [];
          left.set(name, (left.get(name) as number) - size);
          return [{ size, priority, name: `x${i}`, on: name }];
        });
        const nodes = names.map((name) => node(name, { allocatable: { cpu: '6' } }));
        const placement = place(preemptor(String(cpu)), {
          nodes,
          pods: pods.map(({ size, priority, name, on }) => victim(name, { cpu: String(size), priority, on })),
        });
        const possible = names.some((name) => {
          const movable = pods.filter(({ on, priority }) => on === name && priority < 1000).reduce((sum, { size }) => sum + size, 0);
          return (left.get(name) as number) + movable >= cpu;
        });
        if (placement.type === 'placed') return (left.get(placement.node.name) as number) >= cpu;
        if (placement.type === 'error') return false;
        const chosen = placement.preemption?.nominatedNode ?? '';
        if (chosen === '') return !possible;
        const victims = (placement.preemption?.victims ?? []).map(({ name }) => pods.find((candidate) => candidate.name === name)!);
        const freed = (left.get(chosen) as number) + victims.reduce((sum, { size }) => sum + size, 0);
        // All of them are needed.
        const isMinimal = victims.every(({ size }) => freed - size < cpu);
        return freed >= cpu && isMinimal && victims.every(({ priority, on }) => priority < 1000 && on === chosen);
      }),
    );
  });
});
