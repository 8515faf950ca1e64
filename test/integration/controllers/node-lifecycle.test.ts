import { describe, expect, it } from 'vitest';
import { core } from '#api';
import type { ControllerManagerConfig } from '#controllers';
import { findCondition, formatTime, parseTime } from '#machinery';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { updateNode } from './workload-actors.ts';

const CONTROLLERS = ['node-lifecycle-controller', 'taint-eviction-controller', 'serviceaccount-controller'];
const HEALTHY = [
  { type: 'Ready', status: 'True' },
  { type: 'MemoryPressure', status: 'False' },
  { type: 'DiskPressure', status: 'False' },
  { type: 'PIDPressure', status: 'False' },
];
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** Nodes that report every ten seconds until they are silenced. */
class Nodes {
  readonly silent = new Set<string>();
  /** When each node got its NoExecute taint, in seconds. */
  readonly evicted = new Map<string, number>();

  private constructor(
    readonly plane: ControlPlane,
    readonly names: readonly string[],
  ) {}

  static async start(plane: ControlPlane, zones: Readonly<Record<string, number>>): Promise<Nodes> {
    const named = Object.entries(zones).flatMap(([zone, count]) =>
      Array.from({ length: count }, (_, i) => ({ zone, name: `${zone}${i}` })),
    );
    for (const { zone, name } of named) {
      await plane.client.of(core.Node).create({ metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } } });
    }
    const nodes = new Nodes(
      plane,
      named.map(({ name }) => name),
    );
    await nodes.pass(30);
    return nodes;
  }

  silence(...names: string[]): void {
    for (const name of names) this.silent.add(name);
  }

  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 10) {
      for (const name of this.names) if (!this.silent.has(name)) await updateNode(this.plane, name, HEALTHY);
      for (let second = 0; second < 10; second++) {
        await this.plane.clock.advance(1000);
        await this.#look();
      }
    }
  }

  async #look(): Promise<void> {
    for (const { metadata, spec } of (await this.plane.client.of(core.Node).list()).items) {
      const taint = spec?.taints?.find(({ key, effect }) => key === UNREACHABLE && effect === 'NoExecute');
      if (taint === undefined) this.evicted.delete(metadata.name);
      else this.evicted.set(metadata.name, parseTime(taint.timeAdded ?? '') / 1000);
    }
  }

  get(name: string): Promise<core.Node> {
    return this.plane.client.of(core.Node).get({ name });
  }

  async taints(name: string): Promise<readonly string[]> {
    return ((await this.get(name)).spec?.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`);
  }

  /** The intervals between evictions. */
  get intervals(): readonly number[] {
    const times = [...this.evicted.values()].sort((a, b) => a - b);
    return times.slice(1).map((time, i) => time - times[i]!);
  }
}

function start(options: ControllerManagerConfig['options'] = {}): Promise<ControlPlane> {
  return startControlPlane({ controllers: CONTROLLERS, options });
}

function podOn(nodeName: string, tolerations: readonly core.Toleration[] = []) {
  return {
    metadata: { name: `on-${nodeName}`, namespace: 'default' },
    spec: { nodeName, tolerations, containers: [{ name: 'c', image: 'i' }] },
  };
}

async function makeReady({ client, clock }: ControlPlane, name: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()) }];
  const patch = { status: { phase: 'Running', conditions } };
  await client.of(core.Pod).patch({ name, namespace: 'default' }, patch, { type: 'strategic', subresource: 'status' });
}

const events = async ({ client }: ControlPlane) =>
  (await client.of(core.Event).list()).items.map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason}: ${message}`);

describe('a node that falls silent', () => {
  it('is unknown after the grace period in all its conditions, and its pods are not ready', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    await plane.client.of(core.Pod).create(podOn('a0'));
    await makeReady(plane, 'on-a0');
    nodes.silence('a0');
    await nodes.pass(40);
    expect(findCondition((await nodes.get('a0')).status?.conditions, 'Ready')?.status).toBe('True');
    await nodes.pass(20);
    const { conditions } = (await nodes.get('a0')).status ?? {};
    expect(conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual(
      HEALTHY.map(({ type }) => [type, 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.']),
    );
    const pod = await plane.client.of(core.Pod).get({ name: 'on-a0', namespace: 'default' });
    expect(findCondition(pod.status?.conditions, 'Ready')?.status).toBe('False');
    expect(await events(plane)).toEqual(
      expect.arrayContaining(['a0 NodeNotReady: Node a0 status is now: NodeNotReady', 'on-a0 NodeNotReady: Node is not ready']),
    );
    expect(await nodes.taints('a0')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
    nodes.silent.delete('a0');
    await nodes.pass(20);
    expect(await nodes.taints('a0')).toEqual([]);
  });

  it('makes pods not ready, too, that a controller before did not get to', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    nodes.silence('a0');
    await nodes.pass(60);
    await plane.client.of(core.Pod).create(podOn('a0', [{ operator: 'Exists' }]));
    await makeReady(plane, 'on-a0');
    await plane.restartControllers();
    await nodes.pass(10);
    const pod = await plane.client.of(core.Pod).get({ name: 'on-a0', namespace: 'default' });
    expect(findCondition(pod.status?.conditions, 'Ready')?.status).toBe('False');
  });

  it('loses each pod when its toleration ends', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    const tolerating = (tolerationSeconds?: number) => [
      { key: UNREACHABLE, operator: 'Exists', effect: 'NoExecute', ...(tolerationSeconds !== undefined && { tolerationSeconds }) },
    ];
    const pods = { never: [], soon: tolerating(30), late: tolerating(120), ever: tolerating() };
    const draft = (name: string, tolerations: readonly core.Toleration[]) => ({
      ...podOn('a0', tolerations),
      metadata: { name, namespace: 'default' },
    });
    for (const [name, tolerations] of Object.entries(pods)) await plane.client.of(core.Pod).create(draft(name, tolerations));
    nodes.silence('a0');
    const left = async () => {
      const { items } = await plane.client.of(core.Pod).list({ namespace: 'default' });
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
    };
    await nodes.pass(50);
    expect(await left()).toEqual(['ever', 'late', 'never', 'soon']);
    await nodes.pass(20);
    // Admission added a default toleration of five minutes.
    expect(await left()).toEqual(['ever', 'late', 'never', 'soon']);
    await nodes.pass(30);
    expect(await left()).toEqual(['ever', 'late', 'never']);
    const soon = await plane.client.of(core.Pod).get({ name: 'soon', namespace: 'default' });
    expect(findCondition(soon.status?.conditions, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    });
    expect(await events(plane)).toContain('soon TaintManagerEviction: Marking for deletion Pod default/soon');
    await nodes.pass(90);
    expect(await left()).toEqual(['ever', 'never']);
    await nodes.pass(200);
    expect(await left()).toEqual(['ever']);
  });

  it('keeps its pods when it comes back in time', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    await plane.client.of(core.Pod).create(podOn('a0'));
    nodes.silence('a0');
    await nodes.pass(120);
    nodes.silent.delete('a0');
    await nodes.pass(400);
    const pod = await plane.client.of(core.Pod).get({ name: 'on-a0', namespace: 'default' });
    expect(pod.metadata.deletionTimestamp).toBeUndefined();
    expect(await events(plane)).toContain('on-a0 TaintManagerEviction: Cancelling deletion of Pod default/on-a0');
  });
});

describe('a node in trouble', () => {
  it.each([
    ['Ready', 'False', ['not-ready:NoSchedule', 'not-ready:NoExecute']],
    ['MemoryPressure', 'True', ['memory-pressure:NoSchedule']],
    ['DiskPressure', 'True', ['disk-pressure:NoSchedule']],
    ['PIDPressure', 'True', ['pid-pressure:NoSchedule']],
    ['NetworkUnavailable', 'True', ['network-unavailable:NoSchedule']],
  ])('that says %s %s is tainted for it', async (type, status, expected) => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    nodes.silent.add('a0');
    await updateNode(plane, 'a0', [...HEALTHY.filter((condition) => condition.type !== type), { type, status }]);
    await plane.clock.advance(12_000);
    expect(await nodes.taints('a0')).toEqual(expected);
    await updateNode(plane, 'a0', [...HEALTHY, { type: 'NetworkUnavailable', status: 'False' }]);
    await plane.clock.advance(12_000);
    expect(await nodes.taints('a0')).toEqual([]);
  });

  it('that is not ready and then silent changes its taint at once', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4 });
    nodes.silent.add('a0');
    await updateNode(plane, 'a0', [{ type: 'Ready', status: 'False' }]);
    await nodes.pass(70);
    expect(await nodes.taints('a0')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
  });
});

describe('the rate of evictions', () => {
  it('is a node in ten seconds while a zone is healthy', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 10 });
    nodes.silence('a0', 'a1', 'a2', 'a3', 'a4');
    await nodes.pass(130);
    expect(nodes.intervals).toEqual([10, 10, 10, 10]);
  });

  it('is what the flag says', async () => {
    await using plane = await start({ nodeEvictionRate: 0.05 });
    const nodes = await Nodes.start(plane, { a: 6 });
    nodes.silence('a0', 'a1', 'a2');
    await nodes.pass(130);
    expect(nodes.intervals).toEqual([20, 20]);
  });

  it('is nothing in a small cluster when too many nodes of a zone are lost', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 5, b: 3 });
    nodes.silence('a0', 'a1', 'a2');
    await nodes.pass(200);
    expect([...nodes.evicted.keys()]).toEqual([]);
    nodes.silence('b0');
    await nodes.pass(70);
    expect([...nodes.evicted.keys()]).toEqual(['b0']);
    nodes.silent.delete('a0');
    await nodes.pass(60);
    expect([...nodes.evicted.keys()].sort()).toEqual(['a1', 'a2', 'b0']);
  });

  it('is the secondary rate in a large one', async () => {
    await using plane = await start({ largeClusterSizeThreshold: 4 });
    const nodes = await Nodes.start(plane, { a: 5 });
    nodes.silence('a0', 'a1', 'a2');
    await nodes.pass(330);
    expect(nodes.intervals).toEqual([100, 100]);
  });

  it('depends on the threshold', async () => {
    await using plane = await start({ unhealthyZoneThreshold: 0.7 });
    const nodes = await Nodes.start(plane, { a: 5 });
    nodes.silence('a0', 'a1', 'a2');
    await nodes.pass(90);
    expect(nodes.intervals).toEqual([10, 10]);
  });

  it('is the usual one in a zone that is wholly lost while others are not', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 4, b: 4 });
    nodes.silence('a0', 'a1', 'a2', 'a3');
    await nodes.pass(120);
    expect(nodes.intervals).toEqual([10, 10, 10]);
  });

  it('is nothing when all zones are lost, and goes on in those that stay lost', async () => {
    await using plane = await start();
    const nodes = await Nodes.start(plane, { a: 2, b: 2 });
    nodes.silence(...nodes.names);
    await nodes.pass(300);
    expect([...nodes.evicted.keys()]).toEqual([]);
    nodes.silent.delete('a0');
    nodes.silent.delete('a1');
    await nodes.pass(120);
    expect([...nodes.evicted.keys()].sort()).toEqual(['b0', 'b1']);
  });
});
