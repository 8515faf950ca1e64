import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, message, string, time } from '../../schema.ts';

export const NodeMetrics = message('io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics', '', {
  metadata: always(1, ObjectMeta),
  timestamp: always(2, time),
  window: always(3, string),
  usage: always(4, string),
});
export type NodeMetrics = Infer<typeof NodeMetrics>;
