import type { core } from '#api';
import type { InformerHandler } from '#client';
import type { NodeFeed } from '../../pods/pod-source.ts';

interface Subscriber<T> {
  readonly nodeName: string;
  readonly handler: InformerHandler<T>;
  /** The last state sent to the subscriber, by uid. */
  readonly objects: Map<string, T>;
  inner: Disposable | undefined;
}

/** A feed that simulates a network partition: nothing is delivered until it heals, then all changes, deletions included. */
export class NodeFeedGate implements NodeFeed {
  readonly synced: Promise<unknown>;
  readonly #pods = new Set<Subscriber<core.Pod>>();
  readonly #nodes = new Set<Subscriber<core.Node>>();
  #isCut = false;

  constructor(
    private readonly inner: NodeFeed,
    /** The pods of a node that starts partitioned. */
    private readonly initialPods?: readonly core.Pod[],
  ) {
    this.synced = inner.synced;
  }

  pods(nodeName: string, handler: InformerHandler<core.Pod>): Disposable {
    const subscriber: Subscriber<core.Pod> = { nodeName, handler, objects: new Map(), inner: undefined };
    if (this.#isCut) for (const pod of this.initialPods ?? []) report(subscriber, pod);
    return this.#add(this.#pods, subscriber, (next) => this.inner.pods(nodeName, next));
  }

  node(nodeName: string, handler: InformerHandler<core.Node>): Disposable {
    const subscriber: Subscriber<core.Node> = { nodeName, handler, objects: new Map(), inner: undefined };
    if (this.#isCut) this.inner.node(nodeName, { add: (node) => report(subscriber, node) })[Symbol.dispose]();
    return this.#add(this.#nodes, subscriber, (next) => this.inner.node(nodeName, next));
  }

  cut(): void {
    this.#isCut = true;
    for (const subscriber of this.#pods) disconnect(subscriber);
    for (const subscriber of this.#nodes) disconnect(subscriber);
  }

  mend(): void {
    this.#isCut = false;
    for (const subscriber of this.#pods) connect(subscriber, (handler) => this.inner.pods(subscriber.nodeName, handler));
    for (const subscriber of this.#nodes) connect(subscriber, (handler) => this.inner.node(subscriber.nodeName, handler));
  }

  #add<T extends core.Pod | core.Node>(
    all: Set<Subscriber<T>>,
    subscriber: Subscriber<T>,
    subscribe: (handler: InformerHandler<T>) => Disposable,
  ): Disposable {
    all.add(subscriber);
    if (!this.#isCut) connect(subscriber, subscribe);
    return {
      [Symbol.dispose]: () => {
        all.delete(subscriber);
        disconnect(subscriber);
      },
    };
  }
}

function disconnect<T>(subscriber: Subscriber<T>): void {
  subscriber.inner?.[Symbol.dispose]();
  subscriber.inner = undefined;
}

/** Objects that have disappeared are reported as deleted. */
function connect<T extends core.Pod | core.Node>(subscriber: Subscriber<T>, subscribe: (handler: InformerHandler<T>) => Disposable): void {
  if (subscriber.inner !== undefined) return;
  const seen = new Set<string>();
  const { objects, handler } = subscriber;
  subscriber.inner = subscribe({
    add: (object) => {
      seen.add(uidOf(object));
      report(subscriber, object);
    },
    update: (_, object) => report(subscriber, object),
    delete: (object) => {
      objects.delete(uidOf(object));
      handler.delete?.(object);
    },
  });
  for (const [uid, object] of objects) {
    if (seen.has(uid)) continue;
    objects.delete(uid);
    handler.delete?.(object);
  }
}

function report<T extends core.Pod | core.Node>({ objects, handler }: Subscriber<T>, object: T): void {
  const before = objects.get(uidOf(object));
  objects.set(uidOf(object), object);
  if (before === undefined) handler.add?.(object, true);
  else handler.update?.(before, object);
}

function uidOf({ metadata }: core.Pod | core.Node): string {
  return metadata.uid ?? '';
}
