import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, duration, type Infer, mapOf, message, quantity, time } from '../../schema.ts';

export const NodeMetrics = message('io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics', 'What a node uses.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  timestamp: always(2, time, 'When it was measured.'),
  window: always(3, duration, 'The time that it was measured over.'),
  usage: always(4, mapOf(quantity), 'The use, by resource.'),
});
export type NodeMetrics = Infer<typeof NodeMetrics>;
