import type { Logger } from '#base';
import type { KubeObject } from './kube-object.ts';
import { type CacheEvent, type WatchEndReason, type WatchFilter, type WatchFrame, WatchScope, type WatchSink } from './watcher.ts';

export interface WatchScopesOptions {
  readonly logger: Logger;
  readonly prefix: string;
  /** The indexed field of the resource. */
  readonly trigger?: (object: KubeObject) => string;
}

/** The watchers of one resource, grouped by filter. */
export class WatchScopes {
  readonly #options: WatchScopesOptions;
  readonly #byKey = new Map<string, WatchScope>();
  readonly #general = new Set<WatchScope>();
  readonly #triggered = new Map<string, Set<WatchScope>>();

  constructor(options: WatchScopesOptions) {
    this.#options = options;
  }

  of(filter: WatchFilter): WatchScope {
    return this.#byKey.get(filter.key) ?? new WatchScope(filter);
  }

  /** Returns the function that removes it. */
  add(scope: WatchScope, sink: WatchSink): () => void {
    if (!this.#byKey.has(scope.filter.key)) {
      this.#byKey.set(scope.filter.key, scope);
      this.#peersOf(scope.filter).add(scope);
    }
    scope.sinks.add(sink);
    return () => this.#removeSink(scope, sink);
  }

  deliver(event: CacheEvent): void {
    for (const scope of this.#general) this.#deliverTo(scope, event);
    if (this.#triggered.size > 0) this.#deliverTriggered(event);
  }

  /** Ends all watches. A sink that reconnects meanwhile gets a new scope. */
  end(reason: WatchEndReason): void {
    const scopes = [...this.#byKey.values()];
    this.#byKey.clear();
    this.#general.clear();
    this.#triggered.clear();
    for (const scope of scopes) for (const sink of scope.sinks) this.#logFailure(() => sink.end(reason));
  }

  #deliverTriggered(event: CacheEvent): void {
    const { trigger } = this.#options;
    const now = trigger!(event.object.object);
    const before = event.previous && trigger!(event.previous.object);
    for (const scope of this.#triggered.get(now) ?? []) this.#deliverTo(scope, event);
    if (before === undefined || before === now) return;
    for (const scope of this.#triggered.get(before) ?? []) this.#deliverTo(scope, event);
  }

  #deliverTo(scope: WatchScope, event: CacheEvent): void {
    const frame = this.#frameFor(scope, event);
    if (frame === undefined) return;
    for (const sink of scope.sinks) {
      try {
        sink.frame(frame);
      } catch (error) {
        this.#failed(scope, sink, error);
      }
    }
  }

  /** What a filter fails on does not match it. */
  #frameFor(scope: WatchScope, event: CacheEvent): WatchFrame | undefined {
    try {
      return scope.frameFor(event);
    } catch (error) {
      this.#options.logger.error('a filter failed on an object', { key: event.object.key, error });
      return undefined;
    }
  }

  /** A failing watcher ends alone. */
  #failed(scope: WatchScope, sink: WatchSink, error: unknown): void {
    this.#options.logger.error('a watcher failed', { prefix: this.#options.prefix, error });
    this.#removeSink(scope, sink);
    this.#logFailure(() => sink.end('expired'));
  }

  #logFailure(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.logger.error('a watcher failed as it ended', { prefix: this.#options.prefix, error });
    }
  }

  #peersOf({ trigger }: WatchFilter): Set<WatchScope> {
    if (trigger === undefined || this.#options.trigger === undefined) return this.#general;
    let peers = this.#triggered.get(trigger);
    if (peers === undefined) {
      peers = new Set();
      this.#triggered.set(trigger, peers);
    }
    return peers;
  }

  #removeSink(scope: WatchScope, sink: WatchSink): void {
    scope.sinks.delete(sink);
    if (scope.sinks.size > 0 || this.#byKey.get(scope.filter.key) !== scope) return;
    this.#byKey.delete(scope.filter.key);
    const peers = this.#peersOf(scope.filter);
    peers.delete(scope);
    if (peers !== this.#general && peers.size === 0) this.#triggered.delete(scope.filter.trigger!);
  }
}
