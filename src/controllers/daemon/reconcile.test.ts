import { describe, expect, it } from 'vitest';
import type { apps, core } from '#api';
import { FailedPodBackoff } from './failed-pod-backoff.ts';
import { affinityFor, daemonTolerations, fitOf } from './node-fit.ts';
import { nodeOf, type ObservedDaemonSet, planDaemons, rollingStep, withDaemonStatus } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);

interface PodDraft {
  readonly hash?: 'new' | 'old';
  readonly ready?: boolean;
  readonly phase?: string;
  readonly created?: number;
  readonly isGoing?: boolean;
}

function pod(
  name: string,
  node: string,
  { hash = 'new', ready = true, phase = 'Running', created = 0, isGoing = false }: PodDraft = {},
): core.Pod {
  const creationTimestamp = `2026-01-01T00:00:0${created}Z`;
  return {
    metadata: {
      name,
      creationTimestamp,
      labels: { 'controller-revision-hash': hash },
      ...(isGoing && { deletionTimestamp: creationTimestamp }),
    },
    spec: { nodeName: node, containers: [] },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: creationTimestamp }] },
  };
}

/** A pod that has no node yet. */
function waitingFor(name: string, node: string): core.Pod {
  return { ...pod(name, node, { phase: 'Pending', ready: false }), spec: { containers: [], affinity: affinityFor(undefined, node) } };
}

function node(name: string, taints: readonly core.Taint[] = []): core.Node {
  return { metadata: { name, labels: { name } }, spec: { taints } };
}

interface Draft {
  readonly nodes?: readonly core.Node[];
  readonly pods: readonly core.Pod[];
  readonly spec?: Partial<apps.DaemonSetSpec>;
  readonly waitMs?: number;
}

function observe({ nodes = [node('a'), node('b'), node('c')], pods, spec, waitMs = 0 }: Draft): ObservedDaemonSet {
  const set = {
    metadata: { name: 'agent', generation: 3 },
    spec: { selector: {}, template: { spec: { containers: [] } }, updateStrategy: { type: 'RollingUpdate' }, ...spec },
  };
  const podsOn = new Map<string, core.Pod[]>();
  for (const item of pods) podsOn.set(nodeOf(item), [...(podsOn.get(nodeOf(item)) ?? []), item]);
  return { set, nodes, podsOn, hash: 'new', failureWaitMs: () => waitMs, now: NOW };
}

const names = (pods: readonly core.Pod[]) => pods.map(({ metadata }) => metadata.name);
const surging = (maxSurge: number | string) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 0 } },
});
const TAINT = { key: 'x', effect: 'NoExecute' };

describe('a daemon set', () => {
  it.each<[string, Draft, { create?: string[]; remove?: string[] }]>([
    ['runs on every node', { pods: [pod('p', 'b')] }, { create: ['a', 'c'] }],
    ['waits for one that goes', { nodes: [node('a')], pods: [pod('p', 'a', { isGoing: true })] }, {}],
    ['leaves nodes alone that it may not go to', { nodes: [node('a', [{ key: 'x', effect: 'NoSchedule' }])], pods: [] }, {}],
    ['stays where it may stay', { nodes: [node('a', [{ key: 'x', effect: 'NoSchedule' }])], pods: [pod('p', 'a')] }, {}],
    ['goes where it may not stay', { nodes: [node('a', [TAINT])], pods: [pod('p', 'a')] }, { remove: ['p'] }],
    [
      'keeps the oldest of several',
      { nodes: [node('a')], pods: [pod('young', 'a', { created: 5 }), pod('old', 'a', { created: 1, ready: false })] },
      { remove: ['young'] },
    ],
    [
      'gives up one that waits for a node that is gone, not one that was there',
      { nodes: [], pods: [waitingFor('waits', 'gone'), pod('was', 'gone')] },
      { remove: ['waits'] },
    ],
    ['replaces one that failed', { nodes: [node('a')], pods: [pod('p', 'a', { phase: 'Failed' })] }, { remove: ['p'] }],
    ['waits before it replaces one that failed again', { nodes: [node('a')], pods: [pod('p', 'a', { phase: 'Failed' })], waitMs: 5 }, {}],
    [
      'replaces one that ended well at once',
      { nodes: [node('a')], pods: [pod('p', 'a', { phase: 'Succeeded' })], waitMs: 5 },
      { remove: ['p'] },
    ],
  ])('%s', (_name, draft, { create = [], remove = [] }) => {
    const plan = planDaemons(observe(draft));
    expect({ create: plan.create, remove: names(plan.remove) }).toEqual({ create, remove });
  });

  it('requeues a failed pod after its backoff', () => {
    expect(planDaemons(observe({ nodes: [node('a')], pods: [pod('p', 'a', { phase: 'Failed' })], waitMs: 7 })).waitMs).toBe(7);
  });

  it.each<[string, core.Pod[], { create?: string[]; remove?: string[] }]>([
    ['leaves both while the new one is not ready', [pod('o', 'a', { hash: 'old' }), pod('n', 'a', { ready: false })], {}],
    ['takes the old one when the new one is ready', [pod('o', 'a', { hash: 'old' }), pod('n', 'a')], { remove: ['o'] }],
    [
      'takes an old one that does not serve',
      [pod('o', 'a', { hash: 'old', ready: false }), pod('n', 'a', { ready: false })],
      { remove: ['o'] },
    ],
    ['does not wait for one that goes', [pod('o', 'a', { isGoing: true })], { create: ['a'] }],
  ])('with a surge %s', (_name, pods, { create = [], remove = [] }) => {
    const plan = planDaemons(observe({ nodes: [node('a')], pods, spec: surging(1) }));
    expect({ create: plan.create, remove: names(plan.remove) }).toEqual({ create, remove });
  });

  const old = (name: string, ready = true) => pod(`${name}1`, name, { hash: 'old', ready });
  it.each<[string, Draft, { create?: string[]; remove?: string[] }]>([
    ['one pod at a time', { pods: [old('a'), old('b'), old('c')] }, { remove: ['a1'] }],
    ['none while another is not available', { pods: [old('a'), old('b'), pod('c2', 'c', { ready: false })] }, {}],
    ['broken ones in any case', { pods: [old('a', false), old('b', false), old('c')] }, { remove: ['a1', 'b1'] }],
    [
      'as many as may be unavailable',
      {
        pods: [old('a'), old('b'), old('c')],
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } } },
      },
      { remove: ['a1', 'b1'] },
    ],
    ['none when told so', { pods: [old('a')], spec: { updateStrategy: { type: 'OnDelete' } } }, {}],
    ['with new ones first, when they may be more', { pods: [old('a'), old('b'), old('c')], spec: surging(2) }, { create: ['a', 'b'] }],
    ['with no more than that', { pods: [old('a'), pod('a2', 'a', { ready: false }), old('b'), old('c')], spec: surging(1) }, {}],
  ])('is updated %s', (_name, draft, { create = [], remove = [] }) => {
    const step = rollingStep(observe(draft));
    expect({ create: step.create, remove: names(step.remove) }).toEqual({ create, remove });
  });

  it('reports scheduled and misscheduled counts', () => {
    const nodes = [node('a'), node('b'), node('c'), node('d', [{ key: 'x', effect: 'NoSchedule' }])];
    const pods = [pod('a1', 'a'), pod('b1', 'b', { hash: 'old', ready: false }), pod('d1', 'd')];
    const { status } = withDaemonStatus(observe({ nodes, pods }));
    expect(status).toEqual({
      observedGeneration: 3,
      desiredNumberScheduled: 3,
      currentNumberScheduled: 2,
      numberMisscheduled: 1,
      numberReady: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      numberUnavailable: 2,
    });
  });
});

describe('a node fits a daemon', () => {
  const spec = (changes: Partial<core.PodSpec> = {}): core.PodSpec => ({ containers: [], ...changes });
  const required = (terms: core.NodeSelectorTerm[]): core.Affinity => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });

  it.each<[string, core.PodSpec, core.Node, boolean]>([
    ['when nothing is asked for', spec(), node('a'), true],
    ['of this name', spec({ nodeName: 'a' }), node('a'), true],
    ['not of another', spec({ nodeName: 'b' }), node('a'), false],
    ['with these labels', spec({ nodeSelector: { name: 'a' } }), node('a'), true],
    ['not without them', spec({ nodeSelector: { name: 'b' } }), node('a'), false],
    [
      'by one of several terms',
      spec({ affinity: required([{}, { matchExpressions: [{ key: 'name', operator: 'Exists' }] }]) }),
      node('a'),
      true,
    ],
    ['not by a term that asks for nothing', spec({ affinity: required([{}]) }), node('a'), false],
    ['not by a field of another', spec({ affinity: affinityFor(undefined, 'b') }), node('a'), false],
    ['though it is not ready', spec(), node('a', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]), true],
    ['though it is cordoned', spec(), node('a', [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]), true],
    [
      'not when its network is not ready',
      spec(),
      node('a', [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }]),
      false,
    ],
    [
      'whose network it does without',
      spec({ hostNetwork: true }),
      node('a', [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }]),
      true,
    ],
  ])('%s', (_name, podSpec, on, expected) => {
    expect(fitOf(podSpec, on, daemonTolerations(podSpec)).shouldRun).toBe(expected);
  });
});

describe('a node that refuses a daemon', () => {
  it('gets the next one later each time, up to a quarter of an hour, and is forgiven after half of one', () => {
    const backoff = new FailedPodBackoff();
    expect(backoff.waitMs('n', 0)).toBe(0);
    const waits: number[] = [];
    let now = 0;
    for (let i = 0; i < 12; i++) {
      backoff.replaced('n', now);
      waits.push(backoff.waitMs('n', now) / 1000);
      now += backoff.waitMs('n', now);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    now += 31 * 60_000;
    backoff.replaced('n', now);
    expect(backoff.waitMs('n', now)).toBe(1000);
    backoff.forgetOld(now + 31 * 60_000);
    expect(backoff.waitMs('n', now)).toBe(0);
  });
});
