import { Toleration } from '../../core/v1/pod/toleration.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomicMapOf, field, type Infer, kind, listOf, mapOf, object, pointer, quantity, required, string } from '../../schema.ts';

export const Overhead = object('io.k8s.api.node.v1.Overhead', 'What running a pod costs beyond its containers.', {
  podFixed: field(1, mapOf(quantity), 'The cost, by resource.'),
});
export type Overhead = Infer<typeof Overhead>;

export const Scheduling = object('io.k8s.api.node.v1.Scheduling', 'Which nodes can run pods of a class.', {
  nodeSelector: field(1, atomicMapOf(string), 'Labels of the nodes.'),
  tolerations: field(2, listOf(Toleration), 'Tolerations that the pods get.'),
});
export type Scheduling = Infer<typeof Scheduling>;

export const RuntimeClass = kind(
  {
    name: 'io.k8s.api.node.v1.RuntimeClass',
    group: 'node.k8s.io',
    version: 'v1',
    kind: 'RuntimeClass',
    resource: 'runtimeclasses',
    namespaced: false,
  },
  'A way to run containers.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    handler: required(2, string, "The handler in the container runtime's configuration. Cannot be changed."),
    overhead: pointer(3, Overhead, 'What running a pod this way costs beyond its containers.'),
    scheduling: pointer(4, Scheduling, 'Which nodes can run pods this way.'),
  },
);
export type RuntimeClass = Infer<typeof RuntimeClass>;
