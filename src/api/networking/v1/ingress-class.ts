import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, nullable, object, pointer, required, string } from '../../schema.ts';

export const IngressClassParametersReference = object(
  'io.k8s.api.networking.v1.IngressClassParametersReference',
  'An object with further settings.',
  {
    apiGroup: pointer(1, string, "The API group; '' for the core group."),
    kind: required(2, string, 'The kind.'),
    name: required(3, string, 'The name.'),
    scope: nullable(4, string, 'Cluster or Namespace.'),
    namespace: pointer(5, string, 'The namespace.'),
  },
);
export type IngressClassParametersReference = Infer<typeof IngressClassParametersReference>;

export const IngressClassSpec = object('io.k8s.api.networking.v1.IngressClassSpec', 'Which controller serves a kind of ingress.', {
  controller: field(1, string, "The controller's name, such as example.com/ingress. Cannot be changed."),
  parameters: pointer(2, IngressClassParametersReference, 'An object with further settings.'),
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
  'A kind of ingress, and the controller that serves it.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, IngressClassSpec, 'Which controller.'),
  },
);
export type IngressClass = Infer<typeof IngressClass>;
