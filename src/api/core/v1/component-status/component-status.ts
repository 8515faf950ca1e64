import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, mapListOf, named, object, required, string } from '../../../schema.ts';

export const ComponentCondition = object('io.k8s.api.core.v1.ComponentCondition', 'One finding about a component.', {
  type: required(1, named('v1.ComponentConditionType'), 'The kind of finding; Healthy is the only one.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  message: field(3, string, 'The finding in words.'),
  error: field(4, string, 'The error code of a failed check.'),
});
export type ComponentCondition = Infer<typeof ComponentCondition>;

export const ComponentStatus = kind(
  {
    name: 'io.k8s.api.core.v1.ComponentStatus',
    group: '',
    version: 'v1',
    kind: 'ComponentStatus',
    resource: 'componentstatuses',
    namespaced: false,
    shortNames: ['cs'],
  },
  "Health of a control plane component. Deprecated: use the components' health endpoints.",
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    conditions: field(2, mapListOf(ComponentCondition, 'type'), "What is known of the component's health.", { merge: 'type' }),
  },
);
export type ComponentStatus = Infer<typeof ComponentStatus>;
