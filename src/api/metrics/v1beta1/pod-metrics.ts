import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, duration, type Infer, listOf, mapOf, message, object, quantity, string, time } from '../../schema.ts';

export const ContainerMetrics = object('io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics', 'What a container uses.', {
  name: always(1, string, 'The container.'),
  usage: always(2, mapOf(quantity), 'The use, by resource.'),
});
export type ContainerMetrics = Infer<typeof ContainerMetrics>;

export const PodMetrics = message('io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics', 'What a pod uses.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  timestamp: always(2, time, 'When it was measured.'),
  window: always(3, duration, 'The time that it was measured over.'),
  containers: always(4, listOf(ContainerMetrics), 'The use of each container.'),
});
export type PodMetrics = Infer<typeof PodMetrics>;
