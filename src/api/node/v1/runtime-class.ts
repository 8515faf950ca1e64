import { Toleration } from '../../core/v1/toleration.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomicMapOf, field, type Infer, kind, listOf, mapOf, object, pointer, quantity, required, string } from '../../schema.ts';

export const Overhead = object('io.k8s.api.node.v1.Overhead', '', {
  podFixed: field(1, mapOf(quantity)),
});
export type Overhead = Infer<typeof Overhead>;

export const Scheduling = object('io.k8s.api.node.v1.Scheduling', '', {
  nodeSelector: field(1, atomicMapOf(string)),
  tolerations: field(2, listOf(Toleration)),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    handler: required(2, string),
    overhead: pointer(3, Overhead),
    scheduling: pointer(4, Scheduling),
  },
);
export type RuntimeClass = Infer<typeof RuntimeClass>;
