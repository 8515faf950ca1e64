import type { PodInfo } from '../framework/pod-info.ts';

/** A pod that waits to be scheduled, with the history of its attempts. */
export interface QueuedPod {
  info: PodInfo;
  /** When it was last put into a queue, in milliseconds. */
  queuedAt: number;
  /** When it was first tried. */
  firstTriedAt: number | undefined;
  attempts: number;
  /** Consecutive unschedulable attempts, and attempts with an error: each increases the backoff. */
  rejections: number;
  errors: number;
  /** Plugins that rejected it; only events registered by them can requeue it. */
  rejectedBy: ReadonlySet<string>;
  /** The plugins that rejected the pod and wait for an event. */
  pendingOn: ReadonlySet<string>;
  /** The PreEnqueue plugin that gates it; '' if none. */
  gatedBy: string;
}

const NO_PLUGINS: ReadonlySet<string> = new Set();

export function newQueuedPod(info: PodInfo, now: number): QueuedPod {
  return {
    info,
    queuedAt: now,
    firstTriedAt: undefined,
    attempts: 0,
    rejections: 0,
    errors: 0,
    rejectedBy: NO_PLUGINS,
    pendingOn: NO_PLUGINS,
    gatedBy: '',
  };
}
