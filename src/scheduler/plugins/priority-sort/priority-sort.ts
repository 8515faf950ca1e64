import type { Plugin } from '../../framework/plugin.ts';

/** Higher priority first; then the longer wait. */
export function prioritySort(): Plugin {
  return { name: 'PrioritySort', compare: (a, b) => b.info.priority - a.info.priority || a.queuedAt - b.queuedAt };
}
