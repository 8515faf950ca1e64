import { core } from '#api';
import { type Client, type InformerDeps, type InformerHandler, SharedInformer } from '#client';

/** The source of a kubelet's pods and node. */
export interface NodeFeed {
  /** Calls the handler with the node's pods, existing ones at once, until disposed. */
  pods(nodeName: string, handler: InformerHandler<core.Pod>): Disposable;
  /** Calls the handler with the node itself. */
  node(nodeName: string, handler: InformerHandler<core.Node>): Disposable;
  /** Resolves after the initial lists. */
  readonly synced: Promise<unknown>;
}

/** One watch of all pods and one of all nodes for every kubelet of a process. The informers are started and stopped by their owner. */
export function sharedNodeFeed(pods: SharedInformer<core.Pod>, nodes: SharedInformer<core.Node>): NodeFeed {
  const podRoutes = new Routes(pods, nodeNameOf);
  const nodeRoutes = new Routes(nodes, ({ metadata }) => metadata.name);
  return {
    pods: (name, handler) => podRoutes.add(name, handler),
    node: (name, handler) => nodeRoutes.add(name, handler),
    synced: Promise.all([pods.synced, nodes.synced]),
  };
}

export interface OwnNodeFeed extends NodeFeed {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** A kubelet's own watches: only its pods and its node, as node authorization requires. */
export function ownNodeFeed(client: Client, deps: InformerDeps, nodeName: string): OwnNodeFeed {
  const pods = new SharedInformer(client.of(core.Pod), deps, { fieldSelector: `spec.nodeName=${nodeName}` });
  const nodes = new SharedInformer(client.of(core.Node), deps, { fieldSelector: `metadata.name=${nodeName}` });
  return {
    pods: (_, handler) => pods.addHandler(handler),
    node: (_, handler) => nodes.addHandler(handler),
    synced: Promise.all([pods.synced, nodes.synced]),
    start: (signal) => {
      pods.start(signal);
      nodes.start(signal);
    },
    stop: async () => {
      await Promise.all([pods.stop(), nodes.stop()]);
    },
  };
}

function nodeNameOf({ spec }: core.Pod): string {
  return spec?.nodeName ?? '';
}

/** Dispatches each object's changes to the subscribers of its route. */
class Routes<T extends core.Pod | core.Node> {
  readonly #handlers = new Map<string, Set<InformerHandler<T>>>();

  constructor(
    private readonly informer: SharedInformer<T>,
    private readonly routeOf: (object: T) => string,
  ) {
    informer.addIndex('route', this.#routesOf);
    informer.addHandler({
      add: (object, isInInitialList) => this.#notify(object, (handler) => handler.add?.(object, isInInitialList)),
      update: (before, after) => this.#update(before, after),
      delete: (object) => this.#notify(object, (handler) => handler.delete?.(object)),
    });
  }

  add(route: string, handler: InformerHandler<T>): Disposable {
    const handlers = this.#handlers.get(route) ?? new Set();
    this.#handlers.set(route, handlers.add(handler));
    for (const object of this.informer.lister.byIndex('route', route)) handler.add?.(object, true);
    return {
      [Symbol.dispose]: () => {
        handlers.delete(handler);
        if (handlers.size === 0 && this.#handlers.get(route) === handlers) this.#handlers.delete(route);
      },
    };
  }

  readonly #routesOf = (object: T): readonly string[] => {
    const route = this.routeOf(object);
    return route === '' ? [] : [route];
  };

  #update(before: T, after: T): void {
    const isNew = this.routeOf(before) !== this.routeOf(after);
    this.#notify(after, (handler) => (isNew ? handler.add?.(after, false) : handler.update?.(before, after)));
  }

  #notify(object: T, call: (handler: InformerHandler<T>) => void): void {
    const handlers = this.#handlers.get(this.routeOf(object));
    if (handlers !== undefined) for (const handler of handlers) call(handler);
  }
}
