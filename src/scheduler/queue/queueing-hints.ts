import { type ClusterEvent, type EventInterest, isWildcard } from '../framework/cluster-event.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { QueuedPod } from './queued-pod.ts';

/** Whether, and how soon, a change warrants a retry. */
export type RequeueStrategy = 'skip' | 'after-backoff' | 'at-once';

/** Asks the plugins that rejected a pod whether a change may help. */
export class QueueingHints {
  readonly #plugins: ReadonlyMap<string, Plugin>;

  constructor(plugins: Iterable<Plugin>) {
    this.#plugins = new Map([...plugins].map((plugin) => [plugin.name, plugin]));
  }

  /** Whether such a change may help any pod that the same plugins rejected. */
  concerns({ rejectedBy, pendingOn }: QueuedPod, event: ClusterEvent): boolean {
    if (isWildcard(event) || rejectedBy.size + pendingOn.size === 0) return true;
    for (const name of [...pendingOn, ...rejectedBy]) {
      const interests = this.#plugins.get(name)?.events;
      if (interests === undefined || interests.some((interest) => matches(interest, event))) return true;
    }
    return false;
  }

  strategyFor(queued: QueuedPod, event: ClusterEvent): RequeueStrategy {
    if (isWildcard(event)) return 'after-backoff';
    if (queued.rejectedBy.size === 0 && queued.pendingOn.size === 0) return 'after-backoff';
    for (const name of queued.pendingOn) if (this.#mayMakeSchedulable(name, queued, event)) return 'at-once';
    for (const name of queued.rejectedBy) if (this.#mayMakeSchedulable(name, queued, event)) return 'after-backoff';
    return 'skip';
  }

  #mayMakeSchedulable(name: string, { info }: QueuedPod, event: ClusterEvent): boolean {
    const plugin = this.#plugins.get(name);
    if (plugin?.events === undefined) return true;
    return plugin.events.some((interest) => matches(interest, event) && (interest.hint?.(info, event) ?? 'Queue') === 'Queue');
  }
}

/** `Update` includes every kind of change of an object. */
function matches({ resource, actions }: EventInterest, event: ClusterEvent): boolean {
  if (resource !== event.resource) return false;
  return actions.includes(event.action) || (event.action.startsWith('Update') && actions.includes('Update'));
}
