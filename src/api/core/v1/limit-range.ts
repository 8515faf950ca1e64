import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, mapOf, object, quantity, required, string } from '../../schema.ts';

export const LimitRangeItem = object('io.k8s.api.core.v1.LimitRangeItem', '', {
  type: required(1, string),
  max: field(2, mapOf(quantity)),
  min: field(3, mapOf(quantity)),
  default: field(4, mapOf(quantity)),
  defaultRequest: field(5, mapOf(quantity)),
  maxLimitRequestRatio: field(6, mapOf(quantity)),
});
export type LimitRangeItem = Infer<typeof LimitRangeItem>;

export const LimitRangeSpec = object('io.k8s.api.core.v1.LimitRangeSpec', '', {
  limits: required(1, listOf(LimitRangeItem)),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, LimitRangeSpec),
  },
);
export type LimitRange = Infer<typeof LimitRange>;
