import { StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { configuresAdmission, isNamespaceResource } from '../matching/admission-kind.ts';
import { type MatchContext, matchContext } from '../matching/match-context.ts';

/** Dependencies of both kinds of policies. */
export interface PolicyContext {
  readonly table: ResourceTable;
  readonly authorizer: Authorizer;
  readonly matching: MatchContext;
}

export interface PolicyDeps {
  readonly table: ResourceTable;
  readonly authorizer: Authorizer;
}

export function policyContext({ table, authorizer }: PolicyDeps): PolicyContext {
  return { table, authorizer, matching: matchContext(table) };
}

/** The storage of the policies or bindings with that resource name. */
export function configurationStorage({ table }: { table: ResourceTable }, resource: string): ResourceStorage {
  const storage = table.storage('admissionregistration.k8s.io', 'v1', resource);
  return storage;
}

const EXCLUDED: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
]);

/** Requests that no policy sees: a policy about them could break the cluster beyond repair. */
export function isExempt(attributes: AdmissionAttributes): boolean {
  const { group, resource } = attributes.resource;
  return configuresAdmission(attributes) || EXCLUDED.has(`${group}/${resource}`);
}

/** The Namespace object of the request; undefined for requests for namespaces themselves. */
export async function requestNamespace(context: PolicyContext, attributes: AdmissionAttributes): Promise<KubeObject | undefined> {
  const { namespace, resource } = attributes;
  if (namespace === '' || isNamespaceResource(resource)) return undefined;
  const object = await context.matching.namespace(namespace);
  if (object === undefined) throw StatusError.notFound({ group: '', resource: 'namespaces' }, namespace);
  return object;
}
