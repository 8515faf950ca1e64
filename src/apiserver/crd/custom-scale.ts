import type { apiextensions } from '#api';
import type { ServedSubresource } from '../registry/served-resource.ts';

/** The scale of a custom resource, at the paths that its definition names. */
export function customScale(_type: apiextensions.CustomResourceType): ServedSubresource {
  return { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get', 'patch', 'update'] };
}
