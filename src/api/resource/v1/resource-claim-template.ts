import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object, required } from '../../schema.ts';
import { ResourceClaimSpec } from './resource-claim-spec.ts';

export const ResourceClaimTemplateSpec = object(
  'io.k8s.api.resource.v1.ResourceClaimTemplateSpec',
  'What claims made from a template look like.',
  {
    metadata: always(1, ObjectMeta, 'Labels and annotations of the claims.'),
    spec: required(2, ResourceClaimSpec, 'The spec of the claims.'),
  },
);
export type ResourceClaimTemplateSpec = Infer<typeof ResourceClaimTemplateSpec>;

export const ResourceClaimTemplate = kind(
  {
    name: 'io.k8s.api.resource.v1.ResourceClaimTemplate',
    group: 'resource.k8s.io',
    version: 'v1',
    kind: 'ResourceClaimTemplate',
    resource: 'resourceclaimtemplates',
    namespaced: true,
  },
  'A pattern for claims that are made for pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, ResourceClaimTemplateSpec, 'The claims. Cannot be changed.'),
  },
);
export type ResourceClaimTemplate = Infer<typeof ResourceClaimTemplate>;
