import type { GroupVersionKind } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** The kind of the object in a request for a resource or one of its subresources. */
export function kindFor(resource: ServedResource, subresource: string): GroupVersionKind {
  const { group, version, kind } = (subresource === '' ? undefined : resource.subresources.get(subresource)?.kind) ?? resource;
  return { group, version, kind };
}

/** Whether the request's object is the resource's own, which can be converted to its other versions. */
export function isOwnKind(resource: ServedResource, subresource: string): boolean {
  const { kind, group } = kindFor(resource, subresource);
  return kind === resource.kind && group === resource.group;
}

export function isNamespaceResource({ group, version, resource }: { group: string; version: string; resource: string }): boolean {
  return group === '' && version === 'v1' && resource === 'namespaces';
}

/** The namespace for admission: a Namespace object counts as inside itself. */
export function admissionNamespace({ resource, namespace, name }: AdmissionAttributes): string {
  return namespace === '' && isNamespaceResource(resource) ? name : namespace;
}

const CONFIGURATION_KINDS: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Whether the request changes admission configuration itself. Such requests are exempt, so that a bad webhook or policy can always be repaired. */
export function configuresAdmission({ resource, subresource }: AdmissionAttributes): boolean {
  const { group, kind } = kindFor(resource, subresource);
  return group === 'admissionregistration.k8s.io' && CONFIGURATION_KINDS.has(kind);
}
