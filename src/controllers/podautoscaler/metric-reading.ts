import type { PodReadings } from './group-pods.ts';

/** The response of a metrics API, in thousandths: per pod, or one value. */
export type MetricReading =
  | { readonly type: 'pods'; readonly pods: PodReadings }
  | { readonly type: 'value'; readonly value: number }
  /** The metric could not be read. */
  | { readonly type: 'failure'; readonly message: string }
  /** The metric's selector is invalid. */
  | { readonly type: 'invalid'; readonly message: string };
