import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#base';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import { Nominations } from '../framework/nominations.ts';
import type { Plugin } from '../framework/plugin.ts';
import { PodInfo } from '../framework/pod-info.ts';
import { QuantityReader } from '../framework/pod-resources.ts';
import { pod } from '../placement.test-data.ts';
import { prioritySort } from '../plugins/priority-sort/priority-sort.ts';
import { schedulingGates } from '../plugins/scheduling-gates/scheduling-gates.ts';
import { QueueingHints } from './queueing-hints.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

const quantities = new QuantityReader();
const info = (name: string, priority = 0, gated = false) =>
  new PodInfo(pod(name, { priority, spec: { priority, ...(gated && { schedulingGates: [{ name: 'g' }] }) } }), quantities);
const nodeAdded: ClusterEvent = { resource: 'Node', action: 'Add', label: 'NodeAdd' };
const podDeleted: ClusterEvent = { resource: 'AssignedPod', action: 'Delete', label: 'AssignedPodDelete' };
const byNodes: Plugin = { name: 'ByNodes', events: [{ resource: 'Node', actions: ['Add'] }] };
const byPods: Plugin = { name: 'ByPods', events: [{ resource: 'AssignedPod', actions: ['Delete'] }] };
const NO_PLUGINS = { rejectedBy: new Set<string>(), pendingOn: new Set<string>() };
const BY_NODES = { rejectedBy: new Set(['ByNodes']), pendingOn: new Set<string>() };
const BY_PODS = { rejectedBy: new Set(['ByPods']), pendingOn: new Set<string>() };

function makeQueue() {
  const clock = new VirtualClock();
  const gates = schedulingGates();
  const hints = new QueueingHints([byNodes, byPods, gates]);
  const queue = new SchedulingQueue({
    clock,
    nominations: new Nominations(),
    compare: prioritySort().compare!,
    preEnqueue: (candidate) => gates.preEnqueue?.(candidate),
    hintsFor: () => hints,
    onActive: () => {},
  });
  return { queue, clock };
}

describe('the scheduling queue', () => {
  test('gives the more important first, then who came first', async () => {
    const { queue, clock } = makeQueue();
    queue.add(info('a'));
    await clock.advance(1);
    queue.add(info('b', 5));
    queue.add(info('c'));
    expect([queue.pop(), queue.pop(), queue.pop()].map((queued) => queued?.info.name)).toEqual(['b', 'a', 'c']);
  });

  test('keeps a rejected pod until something happens that concerns who rejected it', () => {
    const { queue } = makeQueue();
    queue.add(info('a'));
    queue.failed(queue.pop()!, BY_NODES);
    queue.moveOn(podDeleted);
    expect(queue.placeOf('default-a')).toBe('unschedulable');
    queue.moveOn(nodeAdded);
    expect(queue.placeOf('default-a')).toBe('backoff');
    // Nothing else is active: it need not wait.
    expect(queue.pop()?.attempts).toBe(2);
  });

  test('follows a pod that is rejected by another plugin than before', () => {
    const { queue } = makeQueue();
    for (const name of ['a', 'b']) queue.add(info(name));
    for (let i = 0; i < 2; i++) queue.failed(queue.pop()!, i === 0 ? BY_PODS : BY_NODES);
    queue.moveOn(podDeleted);
    expect(['a', 'b'].map((name) => queue.placeOf(`default-${name}`))).toEqual(['backoff', 'unschedulable']);
    queue.failed(queue.pop()!, BY_NODES);
    queue.moveOn(podDeleted);
    expect(queue.sizes).toMatchObject({ unschedulable: 2 });
    queue.moveOn(nodeAdded);
    expect(queue.sizes).toMatchObject({ unschedulable: 0, backoff: 2 });
  });

  test('does not miss what happened while the pod was being scheduled', () => {
    const { queue } = makeQueue();
    queue.add(info('a'));
    const queued = queue.pop()!;
    queue.moveOn(nodeAdded);
    queue.failed(queued, BY_NODES);
    expect(queue.placeOf('default-a')).toBe('backoff');
  });

  test('waits longer after each error, up to a limit', async () => {
    const { queue, clock } = makeQueue();
    queue.add(info('a'));
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      queue.failed(queue.pop()!, NO_PLUGINS);
      expect(queue.pop()).toBeUndefined();
      const since = clock.now();
      await clock.runUntil(() => queue.placeOf('default-a') === 'active');
      waits.push((clock.now() - since) / 1000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test('lets a gated pod go only without its gates, whatever else happens', () => {
    const { queue } = makeQueue();
    queue.add(info('a', 0, true));
    queue.moveOn(nodeAdded);
    expect(queue.placeOf('default-a')).toBe('gated');
    queue.update(info('a'), [{ resource: 'UnscheduledPod', action: 'UpdatePodSchedulingGatesEliminated', label: '' }]);
    expect(queue.placeOf('default-a')).toBe('active');
  });

  test('tries pods again after five minutes in which nothing happened', async () => {
    const { queue, clock } = makeQueue();
    queue.add(info('a'));
    queue.failed(queue.pop()!, BY_NODES);
    await clock.advance(331_000);
    expect(queue.placeOf('default-a')).toBe('active');
  });

  test('has every pod in exactly one place, whatever happens', async () => {
    const action = fc.constantFrom('add', 'gated', 'pop', 'reject', 'error', 'done', 'node', 'pod', 'wait', 'delete');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(action, fc.nat(5)), { maxLength: 60 }), async (actions) => {
        const { queue, clock } = makeQueue();
        const waiting = new Set<string>();
        const flying: ReturnType<typeof queue.pop>[] = [];
        for (const [action, index] of actions) {
          const uid = `default-p${index}`;
          const first = ['reject', 'error', 'done'].includes(action) ? flying.shift() : undefined;
          if (action === 'add' || action === 'gated') {
            queue.add(info(`p${index}`, index, action === 'gated'));
            waiting.add(uid);
          } else if (action === 'pop') flying.push(...[queue.pop()].filter((queued) => queued !== undefined));
          else if (action === 'reject' && first) queue.failed(first, BY_NODES);
          else if (action === 'error' && first) queue.failed(first, NO_PLUGINS);
          else if (action === 'done' && first) {
            queue.done(first.info.uid);
            waiting.delete(first.info.uid);
          } else if (action === 'node') queue.moveOn(nodeAdded);
          else if (action === 'pod') queue.moveOn(podDeleted);
          else if (action === 'wait') await clock.advance(1000 * index);
          else if (action === 'delete' && queue.placeOf(uid) !== 'in-flight') {
            queue.delete(uid);
            waiting.delete(uid);
          }
          for (const candidate of waiting) expect(queue.placeOf(candidate)).toBeDefined();
          const { active, backoff, unschedulable, gated } = queue.sizes;
          expect(active + backoff + unschedulable + gated + flying.length).toBe(waiting.size);
        }
        queue.close();
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
