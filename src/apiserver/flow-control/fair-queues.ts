import { Fifo, Lru } from '#base';
import { dealHand } from './shuffle-shard.ts';

export interface QueuingConfig {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** A request that waits for seats. */
export interface QueuedRequest {
  /** Requests of one flow are served in FIFO order. */
  readonly flow: string;
  readonly seats: number;
  /** Expected work: seats times seconds. */
  readonly work: number;
}

interface Queue<T> {
  readonly waiting: Fifo<T>;
  /** The sum of the waiting requests' work. */
  work: number;
  /** The virtual start time of the next request. */
  nextStart: number;
  /** Dispatched requests that are not settled. */
  executing: number;
  seatsInUse: number;
}

export interface QueueDump<T> extends Omit<Queue<T>, 'waiting'> {
  readonly index: number;
  readonly waiting: readonly T[];
}

/** The limit of empty queues that are kept, with their virtual time. */
const CACHED_QUEUES = 1024;
const CACHED_HANDS = 4096;

/**
 * Start-time fair queuing over shuffle-sharded queues. Virtual time is the start of the last dispatched request: unlike upstream's, which follows
 * the clock at the speed of all seats together, it does not depend on the server's throughput. No clock is used here.
 */
export class FairQueues<T extends QueuedRequest> {
  #config: QueuingConfig;
  readonly #queues = new Map<number, Queue<T>>();
  /** Non-empty queues. */
  readonly #active = new Set<Queue<T>>();
  readonly #homes = new Map<T, Queue<T>>();
  #hands = new Lru<string, readonly number[]>({ capacity: CACHED_HANDS });
  #virtualTime = 0;
  #seats = 0;
  #turn = 0;

  constructor(config: QueuingConfig) {
    this.#config = config;
  }

  /** Waiting requests stay in their queues; new ones use the new configuration. */
  configure(config: QueuingConfig): void {
    if (config.queues !== this.#config.queues || config.handSize !== this.#config.handSize)
      this.#hands = new Lru({ capacity: CACHED_HANDS });
    this.#config = config;
  }

  get size(): number {
    return this.#homes.size;
  }

  /** The seats of all waiting requests. */
  get seats(): number {
    return this.#seats;
  }

  get virtualTime(): number {
    return this.#virtualTime;
  }

  /** The number of non-empty queues. */
  get activeQueues(): number {
    return this.#active.size;
  }

  /** False when the queue is full, unless `isPatient`. */
  add(item: T, isPatient = false): boolean {
    const queue = this.#queueFor(item.flow);
    if (queue.waiting.size >= this.#config.queueLengthLimit && !isPatient) return false;
    if (queue.waiting.size === 0) {
      queue.nextStart = Math.max(queue.nextStart, this.#virtualTime);
      this.#active.add(queue);
    }
    queue.waiting.push(item);
    queue.work += item.work;
    this.#homes.set(item, queue);
    this.#seats += item.seats;
    return true;
  }

  /** The next request. */
  peek(): T | undefined {
    return this.#next()?.waiting.peek();
  }

  /** Dispatches the next request and charges its queue; the account is for `settle`. */
  take(): { readonly item: T; readonly account: Account } | undefined {
    const queue = this.#next();
    const item = queue?.waiting.peek();
    if (queue === undefined || item === undefined) return undefined;
    this.#virtualTime = queue.nextStart;
    queue.nextStart += item.work;
    queue.executing++;
    queue.seatsInUse += item.seats;
    this.#removeFrom(item, queue);
    return { item, account: accountOf(queue, item.seats) };
  }

  /** Removes a request that no longer waits. */
  remove(item: T): boolean {
    const queue = this.#homes.get(item);
    if (queue === undefined) return false;
    this.#removeFrom(item, queue);
    return true;
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#homes.keys();
  }

  /** All queues with their waiting requests, for dumps. */
  *queues(): Iterable<QueueDump<T>> {
    for (const [index, { waiting, ...queue }] of this.#queues) yield { ...queue, index, waiting: [...waiting] };
  }

  #removeFrom(item: T, queue: Queue<T>): void {
    if (queue.waiting.peek() === item) queue.waiting.shift();
    else queue.waiting.delete(item);
    queue.work -= item.work;
    this.#seats -= item.seats;
    this.#homes.delete(item);
    if (queue.waiting.size === 0) this.#active.delete(queue);
  }

  /** The queue whose next request would finish first; of several the shortest, since a client with many requests has more queues. */
  #next(): Queue<T> | undefined {
    let first: Queue<T> | undefined;
    let firstEnd = Number.POSITIVE_INFINITY;
    for (const queue of this.#active) {
      const end = queue.nextStart + queue.waiting.peek()!.work;
      if (end > firstEnd || (end === firstEnd && queue.waiting.size >= first!.waiting.size)) continue;
      first = queue;
      firstEnd = end;
    }
    return first;
  }

  /** The least loaded of the flow's queues. */
  #queueFor(flow: string): Queue<T> {
    const hand = this.#handOf(flow);
    const offset = this.#turn++;
    let best: Queue<T> | undefined;
    for (let i = 0; i < hand.length; i++) {
      const queue = this.#queue(hand[(offset + i) % hand.length]!);
      if (best === undefined || queue.work < best.work) best = queue;
    }
    return best!;
  }

  #handOf(flow: string): readonly number[] {
    let hand = this.#hands.get(flow);
    if (hand === undefined) {
      hand = dealHand(flow, this.#config.queues, this.#config.handSize);
      this.#hands.set(flow, hand);
    }
    return hand;
  }

  #queue(index: number): Queue<T> {
    let queue = this.#queues.get(index);
    if (queue === undefined) {
      if (this.#queues.size >= CACHED_QUEUES) this.#forgetIdle();
      queue = { waiting: new Fifo(), work: 0, nextStart: this.#virtualTime, executing: 0, seatsInUse: 0 };
      this.#queues.set(index, queue);
    }
    return queue;
  }

  #forgetIdle(): void {
    for (const [index, { waiting, executing, nextStart }] of this.#queues)
      if (waiting.size === 0 && executing === 0 && nextStart <= this.#virtualTime) this.#queues.delete(index);
  }
}

function accountOf(queue: Pick<Queue<unknown>, 'nextStart' | 'executing' | 'seatsInUse'>, seats: number): Account {
  return {
    settle: (work) => {
      queue.nextStart += work;
      queue.executing--;
      queue.seatsInUse -= seats;
    },
  };
}

/** Corrects the charge for a request's expected work. */
export interface Account {
  /** Called once, when it has finished. */
  settle(work: number): void;
}
