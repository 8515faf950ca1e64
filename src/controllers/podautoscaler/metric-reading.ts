import type { PodReadings } from './group-pods.ts';

/** What a metrics API said, in thousandths: of each pod, or of everything together. */
export type MetricReading =
  | { readonly type: 'pods'; readonly pods: PodReadings }
  | { readonly type: 'value'; readonly value: number }
  /** Nothing could be read, and why. */
  | { readonly type: 'failure'; readonly message: string }
  /** The metric could not even be asked for: what selects it makes no sense. */
  | { readonly type: 'invalid'; readonly message: string };
