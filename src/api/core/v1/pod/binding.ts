import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, type Infer, kind, required } from '../../../schema.ts';
import { ObjectReference } from '../reference/object-reference.ts';

export const Binding = kind(
  { name: 'io.k8s.api.core.v1.Binding', group: '', version: 'v1', kind: 'Binding', resource: 'bindings', namespaced: true },
  'Ties a pod to a node. Posted by schedulers; deprecated on its own, use the binding subresource of pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    target: required(2, ObjectReference, 'The node to run the pod on.'),
  },
);
export type Binding = Infer<typeof Binding>;
