import type { admissionregistration } from '#api';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { admissionNamespace, isNamespaceResource } from './admission-kind.ts';

export type ResourceRule = admissionregistration.NamedRuleWithOperations;

/** Whether a rule is about the request, if the request were for this resource. */
export function ruleMatches(rule: ResourceRule, attributes: AdmissionAttributes, resource: ServedResource): boolean {
  return (
    hasOrAll(rule.operations, attributes.operation) &&
    hasOrAll(rule.apiGroups, resource.group) &&
    hasOrAll(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.resource, attributes.subresource)) &&
    scopeMatches(rule.scope, attributes, resource) &&
    nameMatches(rule.resourceNames, attributes.name)
  );
}

function hasOrAll(items: readonly string[] | undefined, value: string): boolean {
  return items?.some((item) => item === '*' || item === value) ?? false;
}

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const resourcePattern = slash < 0 ? pattern : pattern.slice(0, slash);
  const subresourcePattern = slash < 0 ? '' : pattern.slice(slash + 1);
  return (resourcePattern === '*' || resourcePattern === resource) && (subresourcePattern === '*' || subresourcePattern === subresource);
}

function scopeMatches(scope: string | undefined, attributes: AdmissionAttributes, resource: ServedResource): boolean {
  if (scope === undefined || scope === '*') return true;
  const isNamespaced = !isNamespaceResource(resource) && admissionNamespace(attributes) !== '';
  return scope === 'Namespaced' ? isNamespaced : scope === 'Cluster' && !isNamespaced;
}

function nameMatches(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name);
}
