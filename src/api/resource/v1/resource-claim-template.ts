import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object, required } from '../../schema.ts';
import { ResourceClaimSpec } from './resource-claim-spec.ts';

export const ResourceClaimTemplateSpec = object('io.k8s.api.resource.v1.ResourceClaimTemplateSpec', '', {
  metadata: always(1, ObjectMeta),
  spec: required(2, ResourceClaimSpec),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, ResourceClaimTemplateSpec),
  },
);
export type ResourceClaimTemplate = Infer<typeof ResourceClaimTemplate>;
