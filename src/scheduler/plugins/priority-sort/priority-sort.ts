import type { Plugin } from '../../framework/plugin.ts';

/** Higher priority first; among equals, who waits longer. */
export function prioritySort(): Plugin {
  return { name: 'PrioritySort', compare: (a, b) => b.info.priority - a.info.priority || a.queuedAt - b.queuedAt };
}
