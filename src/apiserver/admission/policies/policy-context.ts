import { StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceStorage } from '../../registry/resource-storage.ts';
import type { ResourceTable } from '../../registry/resource-table.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { configuresAdmission, isNamespaceResource } from '../matching/admission-kind.ts';
import { type MatchContext, matchContext } from '../matching/match-context.ts';

/** What policies of both kinds work with. */
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

/** Where the policies or bindings of that name are kept. */
export function configurationStorage({ table }: { table: ResourceTable }, resource: string): ResourceStorage {
  const storage = table.find('admissionregistration.k8s.io', 'v1', resource)?.storage;
  if (storage === undefined) throw new Error(`${resource} are not served`);
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

/** The object of the namespace that the request is in; none for requests about namespaces themselves. */
export async function requestNamespace(context: PolicyContext, attributes: AdmissionAttributes): Promise<KubeObject | undefined> {
  const { namespace, resource } = attributes;
  if (namespace === '' || isNamespaceResource(resource)) return undefined;
  const found = await context.matching.namespace(namespace);
  if (found === undefined) throw StatusError.notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}
