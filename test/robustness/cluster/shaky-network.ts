import type { Clock, Random, TimerHandle } from '#base';
import type { Transport, TransportRequest, WatchSink } from '#client';

export interface ShakyNetworkDeps {
  readonly clock: Clock;
  readonly random: Random;
}

const LONGEST_LAG_MS = 3000;
const LONGEST_TRIP_MS = 30;

/**
 * The network between components: requests are delayed or lost, watches lag behind and are interrupted, and a component can be partitioned.
 * Responses to writes are lost too, except those to creates: a repeated create would be no fault of the component.
 */
export class ShakyNetwork {
  readonly #links = new Map<string, ShakyTransport[]>();
  isShaky = false;

  constructor(readonly deps: ShakyNetworkDeps) {}

  /** The connection of the component `who` to the server. */
  link(peer: string, inner: Transport): Transport {
    const link = new ShakyTransport(inner, this);
    this.#links.set(peer, [...(this.#links.get(peer) ?? []), link]);
    return link;
  }

  /** Ends all watches of `who` and drops their pending events. */
  cutWatches(peer: string): void {
    for (const link of this.#links.get(peer) ?? []) link.cutWatches();
  }

  cutOff(peer: string): void {
    for (const link of this.#links.get(peer) ?? []) link.isCut = true;
    this.cutWatches(peer);
  }

  reconnect(peer: string): void {
    for (const link of this.#links.get(peer) ?? []) link.isCut = false;
  }

  /** A stopped component sends nothing more. */
  forget(peer: string): void {
    this.#links.delete(peer);
  }
}

class ShakyTransport implements Transport {
  readonly isLocal: boolean;
  readonly #watches = new Set<LaggingWatch>();
  isCut = false;

  constructor(
    private readonly inner: Transport,
    private readonly network: ShakyNetwork,
  ) {
    this.isLocal = inner.isLocal;
  }

  cutWatches(): void {
    for (const watch of [...this.#watches]) watch.break();
  }

  async request(request: TransportRequest): Promise<unknown> {
    await this.#travel(request.signal);
    const answer = await this.inner.request(request);
    if (request.method === 'POST') await this.#delay(request.signal);
    else await this.#travel(request.signal);
    return answer;
  }

  text(request: TransportRequest): Promise<string> {
    return this.inner.text(request);
  }

  stream(request: TransportRequest): AsyncIterable<Uint8Array> {
    return this.inner.stream(request);
  }

  watch(request: TransportRequest, sink: WatchSink): Disposable {
    const watch = new LaggingWatch(sink, this.network, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    if (this.isCut) queueMicrotask(() => watch.break());
    else watch.follow(this.inner.watch(request, watch));
    return watch;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.inner[Symbol.asyncDispose]();
  }

  async #travel(signal: AbortSignal | undefined): Promise<void> {
    await this.#delay(signal);
    const { isShaky, deps } = this.network;
    if (this.isCut || (isShaky && deps.random.int(50) === 0)) throw connectionLost();
  }

  async #delay(signal: AbortSignal | undefined): Promise<void> {
    const { isShaky, deps } = this.network;
    if (isShaky && deps.random.int(3) === 0) await deps.clock.sleep(deps.random.int(LONGEST_TRIP_MS), signal);
  }
}

type Delivery = (sink: WatchSink) => void;

/** Delivers events in order, each after its delay, until the watch is over. */
class LaggingWatch implements WatchSink, Disposable {
  readonly #onTheWay: { readonly due: number; readonly deliver: Delivery }[] = [];
  #inner: Disposable | undefined;
  #timer: TimerHandle | undefined;
  #isOver = false;

  constructor(
    private readonly sink: WatchSink,
    private readonly network: ShakyNetwork,
    private readonly ended: () => void,
  ) {}

  follow(inner: Disposable): void {
    if (this.#isOver) inner[Symbol.dispose]();
    else this.#inner = inner;
  }

  event(...event: Parameters<WatchSink['event']>): void {
    this.#send((sink) => sink.event(...event));
  }

  bookmark(...mark: Parameters<WatchSink['bookmark']>): void {
    this.#send((sink) => sink.bookmark(...mark));
  }

  error(error: unknown): void {
    this.#send((sink) => this.#finish(() => sink.error(error)));
  }

  end(): void {
    this.#send((sink) => this.#finish(() => sink.end()));
  }

  break(): void {
    this.#finish(() => this.sink.error(connectionLost()));
  }

  [Symbol.dispose](): void {
    this.#finish(() => {});
  }

  #send(deliver: Delivery): void {
    if (this.#isOver) return;
    const { clock } = this.network.deps;
    const last = this.#onTheWay.at(-1)?.due ?? 0;
    this.#onTheWay.push({ due: Math.max(last, clock.monotonic() + this.#lag()), deliver });
    if (this.#onTheWay.length === 1) this.#deliverDue();
  }

  #lag(): number {
    const { isShaky, deps } = this.network;
    if (!isShaky) return 0;
    const dice = deps.random.int(100);
    return dice < 60 ? 0 : deps.random.int(dice < 97 ? 100 : LONGEST_LAG_MS);
  }

  #deliverDue(): void {
    this.#timer = undefined;
    const { clock } = this.network.deps;
    for (let first = this.#onTheWay[0]; first !== undefined; first = this.#onTheWay[0]) {
      const wait = first.due - clock.monotonic();
      if (wait > 0) {
        this.#timer = clock.setTimer(wait, () => this.#deliverDue());
        return;
      }
      first.deliver(this.sink);
      this.#onTheWay.shift();
    }
  }

  #finish(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#onTheWay.length = 0;
    this.#inner?.[Symbol.dispose]();
    this.ended();
    tell();
  }
}

function connectionLost(): Error {
  return new Error('the connection was lost');
}
