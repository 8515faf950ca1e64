import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueues, type QueuedRequest } from './fair-queues.ts';
import { dealHand } from './shuffle-shard.ts';

const CONFIG = { queues: 128, handSize: 6, queueLengthLimit: 50 };

function item(flow: string, work = 1): QueuedRequest {
  return { flow, seats: 1, work };
}

function takeAll(queues: FairQueues<QueuedRequest>, count: number): readonly QueuedRequest[] {
  return Array.from({ length: count }, () => queues.take()?.item).filter((item) => item !== undefined);
}

describe('a hand of queues', () => {
  test('has no queue twice, is within the deck, and is the same for the same flow', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 10 }), (flow, deck, size) => {
        const hand = dealHand(flow, deck, size);
        expect(new Set(hand).size).toBe(Math.min(size, deck));
        expect(hand.every((card) => card >= 0 && card < deck)).toBe(true);
        expect(dealHand(flow, deck, size)).toEqual(hand);
      }),
    );
  });

  test('leaves nearly every other flow a queue of its own', () => {
    const noisy = new Set(dealHand('noisy', 128, 6));
    const flows = Array.from({ length: 1000 }, (_, i) => dealHand(`flow ${i}`, 128, 6));
    expect(flows.filter((hand) => hand.every((card) => noisy.has(card)))).toEqual([]);
  });
});

describe('fair queues', () => {
  test('serve one that comes late to many of another flow at once', () => {
    const queues = new FairQueues<QueuedRequest>(CONFIG);
    for (let i = 0; i < 200; i++) queues.add(item('noisy'));
    takeAll(queues, 20);
    queues.add(item('polite'));
    // The noisy flow has six queues, each of which may be as advanced as the newcomer's.
    expect(takeAll(queues, 7).map(({ flow }) => flow)).toContain('polite');
  });

  test('give flows that all have enough to do the same, whatever their requests take', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 6 }), (works) => {
        const queues = new FairQueues<QueuedRequest>({ queues: 10_000, handSize: 1, queueLengthLimit: 1000 });
        works.forEach((work, flow) => {
          for (let i = 0; i < 500; i++) queues.add(item(`flow ${flow}`, work));
        });
        const served = new Map<string, number>();
        for (const { flow, work } of takeAll(queues, 400)) served.set(flow, (served.get(flow) ?? 0) + work);
        const amounts = works.map((_, flow) => served.get(`flow ${flow}`) ?? 0);
        // No flow is ahead by more than one request of each.
        expect(Math.max(...amounts) - Math.min(...amounts)).toBeLessThanOrEqual(2 * Math.max(...works));
      }),
    );
  });

  test('keep the order within a flow, lose nothing and have nothing twice', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ flow: fc.integer({ min: 0, max: 5 }), take: fc.boolean() })), (steps) => {
        const queues = new FairQueues<QueuedRequest & { readonly number: number }>({ ...CONFIG, handSize: 1 });
        const dispatched: { readonly flow: string; readonly number: number }[] = [];
        const take = () => {
          const next = queues.take()?.item;
          if (next !== undefined) dispatched.push(next);
        };
        steps.forEach((step, number) => {
          queues.add({ ...item(String(step.flow)), number });
          if (step.take) take();
        });
        while (queues.size > 0) take();
        expect(dispatched.map(({ number }) => number).sort((a, b) => a - b)).toEqual(steps.map((_, number) => number));
        for (const flow of new Set(dispatched.map((entry) => entry.flow))) {
          const numbers = dispatched.filter((entry) => entry.flow === flow).map(({ number }) => number);
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        }
        expect([queues.seats, queues.activeQueues]).toEqual([0, 0]);
      }),
    );
  });

  test('reject what a full queue cannot hold, and let in who is patient', () => {
    const queues = new FairQueues<QueuedRequest>({ queues: 1, handSize: 1, queueLengthLimit: 2 });
    expect([item('a'), item('a'), item('a')].map((entry) => queues.add(entry))).toEqual([true, true, false]);
    expect(queues.add(item('a'), true)).toBe(true);
    expect(queues.size).toBe(3);
  });

  test('charge a flow for what its requests took', () => {
    const queues = new FairQueues<QueuedRequest>({ queues: 10_000, handSize: 1, queueLengthLimit: 100 });
    for (let i = 0; i < 10; i++) queues.add(item('slow'));
    queues.take()?.account.settle(5);
    for (let i = 0; i < 10; i++) queues.add(item('quick'));
    expect(takeAll(queues, 6).map(({ flow }) => flow)).toEqual(Array(6).fill('quick'));
  });

  test('forget what leaves before its turn', () => {
    const queues = new FairQueues<QueuedRequest>(CONFIG);
    const [first, second] = [item('a'), item('a')];
    queues.add(first);
    queues.add(second);
    expect([queues.remove(first), queues.remove(first), queues.size, queues.take()?.item]).toEqual([true, false, 1, second]);
  });
});
