import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, kind, named, pointer, string } from '../../schema.ts';

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
  'A name for a priority of pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    value: always(2, int32, 'The priority: the higher, the more important.'),
    globalDefault: field(3, bool, 'Whether pods that name no class have this one.'),
    description: field(4, string, 'For whom it is.'),
    preemptionPolicy: pointer(
      5,
      named('v1.PreemptionPolicy'),
      'Whether such pods may displace others: PreemptLowerPriority (the default) or Never.',
    ),
  },
);
export type PriorityClass = Infer<typeof PriorityClass>;
