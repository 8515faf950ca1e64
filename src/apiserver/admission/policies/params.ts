import type { admissionregistration } from '#api';
import { apiVersionOf, parseGroupVersion, selectorFromObject } from '#machinery';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import { isStored, type StoredResource } from '../../registry/generic/served-resource.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { loadVersions } from '../../watch-cache/load-versions.ts';

type ParamKind = admissionregistration.ParamKind;
type ParamRef = admissionregistration.ParamRef;

/** A policy or a binding cannot be used as it is. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The resource of a kind of parameters. Throws a ConfigurationError when there is none. */
export function paramResource(table: ResourceTable, { apiVersion = '', kind = '' }: ParamKind): StoredResource {
  const { group, version } = parseGroupVersion(apiVersion);
  const resource = table.findKind(group, version, kind);
  if (resource !== undefined && isStored(resource)) return resource;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/** The parameters for a request, one evaluation each; null if the policy has none. Throws a ConfigurationError. */
export async function collectParams(
  resource: StoredResource | undefined,
  ref: ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (KubeObject | null)[]> {
  if (resource === undefined || ref === undefined) return [null];
  const namespace = paramNamespace(resource, ref, requestNamespace);
  const params = ref.name ? await byName(resource, namespace, ref.name) : await bySelector(resource, namespace, ref);
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return params;
}

function paramNamespace({ namespaced }: StoredResource, { namespace }: ParamRef, requestNamespace: string): string {
  if (!namespaced) {
    if (namespace) throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  if (namespace || requestNamespace) return namespace || requestNamespace;
  throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
}

async function byName(resource: StoredResource, namespace: string, name: string): Promise<readonly KubeObject[]> {
  const cached = await resource.storage.get(namespace, name);
  if (cached === undefined) return [];
  await loadVersions(resource, [cached]);
  return [withKind(cached.as(resource).object, resource)];
}

async function bySelector(resource: StoredResource, namespace: string, { selector }: ParamRef): Promise<readonly KubeObject[]> {
  if (selector === undefined) throw new ConfigurationError('one of name or selector must be provided');
  const matcher = selectorFromObject(selector);
  const { storage } = resource;
  await storage.cache.fresh();
  const all = [...storage.cache.objects(storage.prefixOf(namespace))].filter(({ object }) => matcher.matches(object.metadata.labels));
  await loadVersions(resource, all);
  return all.map((cached) => withKind(cached.as(resource).object, resource));
}

function withKind(object: KubeObject, resource: StoredResource): KubeObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
