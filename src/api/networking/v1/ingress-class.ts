import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, nullable, object, pointer, required, string } from '../../schema.ts';

export const IngressClassParametersReference = object('io.k8s.api.networking.v1.IngressClassParametersReference', '', {
  apiGroup: pointer(1, string),
  kind: required(2, string),
  name: required(3, string),
  scope: nullable(4, string),
  namespace: pointer(5, string),
});
export type IngressClassParametersReference = Infer<typeof IngressClassParametersReference>;

export const IngressClassSpec = object('io.k8s.api.networking.v1.IngressClassSpec', '', {
  controller: field(1, string),
  parameters: pointer(2, IngressClassParametersReference),
});
export type IngressClassSpec = Infer<typeof IngressClassSpec>;

export const IngressClass = kind(
  {
    name: 'io.k8s.api.networking.v1.IngressClass',
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'IngressClass',
    resource: 'ingressclasses',
    namespaced: false,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, IngressClassSpec),
  },
);
export type IngressClass = Infer<typeof IngressClass>;
