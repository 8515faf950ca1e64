import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, listOf, message, object, string, time } from '../../schema.ts';

export const ContainerMetrics = object('io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics', '', {
  name: always(1, string),
  usage: always(2, string),
});
export type ContainerMetrics = Infer<typeof ContainerMetrics>;

export const PodMetrics = message('io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics', '', {
  metadata: always(1, ObjectMeta),
  timestamp: always(2, time),
  window: always(3, string),
  containers: always(4, listOf(ContainerMetrics)),
});
export type PodMetrics = Infer<typeof PodMetrics>;
