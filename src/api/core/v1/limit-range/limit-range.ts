import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapOf, named, object, quantity, required } from '../../../schema.ts';

export const LimitRangeItem = object('io.k8s.api.core.v1.LimitRangeItem', 'Bounds on one type of thing.', {
  type: required(1, named('v1.LimitType'), 'What is bounded: Pod, Container or PersistentVolumeClaim.'),
  max: field(2, mapOf(quantity), 'The most, by resource.'),
  min: field(3, mapOf(quantity), 'The least, by resource.'),
  default: field(4, mapOf(quantity), 'The limit of a container that states none, by resource.'),
  defaultRequest: field(5, mapOf(quantity), 'The request of a container that states none, by resource.'),
  maxLimitRequestRatio: field(6, mapOf(quantity), 'How many times the request a limit may be, by resource.'),
});
export type LimitRangeItem = Infer<typeof LimitRangeItem>;

export const LimitRangeSpec = object('io.k8s.api.core.v1.LimitRangeSpec', 'The bounds of a LimitRange.', {
  limits: required(1, listOf(LimitRangeItem), 'The bounds, one for each type of thing.'),
});
export type LimitRangeSpec = Infer<typeof LimitRangeSpec>;

export const LimitRange = kind(
  {
    name: 'io.k8s.api.core.v1.LimitRange',
    group: '',
    version: 'v1',
    kind: 'LimitRange',
    resource: 'limitranges',
    namespaced: true,
    shortNames: ['limits'],
  },
  'Limits and defaults for the resources of pods and claims in a namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, LimitRangeSpec, 'The bounds.'),
  },
);
export type LimitRange = Infer<typeof LimitRange>;
