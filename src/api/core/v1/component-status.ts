import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, mapListOf, object, required, string } from '../../schema.ts';

export const ComponentCondition = object('io.k8s.api.core.v1.ComponentCondition', '', {
  type: required(1, string),
  status: required(2, string),
  message: field(3, string),
  error: field(4, string),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    conditions: field(2, mapListOf(ComponentCondition, 'type'), '', { merge: 'type' }),
  },
);
export type ComponentStatus = Infer<typeof ComponentStatus>;
