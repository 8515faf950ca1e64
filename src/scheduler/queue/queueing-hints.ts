import { type ClusterEvent, isWildcard } from '../framework/cluster-event.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { QueuedPod } from './queued-pod.ts';

/** Whether, and how soon, a change is worth another try. */
export type RequeueStrategy = 'skip' | 'after-backoff' | 'at-once';

/** Asks the plugins that rejected a pod whether a change may help. */
export class QueueingHints {
  readonly #plugins: ReadonlyMap<string, Plugin>;

  constructor(plugins: Iterable<Plugin>) {
    this.#plugins = new Map([...plugins].map((plugin) => [plugin.name, plugin]));
  }

  strategyFor(queued: QueuedPod, event: ClusterEvent): RequeueStrategy {
    if (isWildcard(event)) return 'after-backoff';
    if (queued.rejectedBy.size === 0 && queued.pendingOn.size === 0) return 'after-backoff';
    for (const name of queued.pendingOn) if (this.#mayHelp(name, queued, event)) return 'at-once';
    for (const name of queued.rejectedBy) if (this.#mayHelp(name, queued, event)) return 'after-backoff';
    return 'skip';
  }

  #mayHelp(name: string, { info }: QueuedPod, event: ClusterEvent): boolean {
    const plugin = this.#plugins.get(name);
    if (plugin?.events === undefined) return true;
    return plugin.events.some(
      ({ resource, actions, hint }) =>
        resource === event.resource && matchesAction(actions, event) && (hint === undefined || hint(info, event) === 'Queue'),
    );
  }
}

/** `Update` stands for every way in which an object can change. */
function matchesAction(actions: readonly string[], { action }: ClusterEvent): boolean {
  return actions.includes(action) || (action.startsWith('Update') && actions.includes('Update'));
}
