import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, kind, pointer, string } from '../../schema.ts';

export const PriorityClass = kind(
  {
    name: 'io.k8s.api.scheduling.v1.PriorityClass',
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    resource: 'priorityclasses',
    namespaced: false,
    shortNames: ['pc'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    value: always(2, int32),
    globalDefault: field(3, bool),
    description: field(4, string),
    preemptionPolicy: pointer(5, string),
  },
);
export type PriorityClass = Infer<typeof PriorityClass>;
