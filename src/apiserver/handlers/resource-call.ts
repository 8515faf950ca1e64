import type { Clock, Random } from '#base';
import { type GroupResource, goQuote, nameIsPathSegment, StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionChain } from '../admission/admission.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { AdmissionRequest } from '../registry/generic/object-write.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ServedResource, StoredResource } from '../registry/generic/served-resource.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { warn } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';

/** Dependencies of all handlers of stored resources. */
export interface HandlerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  /** All served resources: some requests refer to another kind. */
  readonly table: ResourceTable;
  /** For requests that need a second permission. Undefined: everything is allowed. */
  readonly authorizer?: Authorizer;
  /** The minimum duration of watches without timeoutSeconds. */
  readonly minWatchTimeoutMs?: number;
}

/** A routed request for a resource; a stored one unless the type parameter says otherwise. */
export interface ResourceCall<R extends ServedResource = StoredResource> {
  readonly request: ApiRequest;
  readonly resource: R;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly deps: HandlerDeps;
}

/** Names that would not survive in a path belong to no object: 400, not 404. */
export function checkPathName(name: string): void {
  const problems = nameIsPathSegment(name, false);
  if (problems.length > 0) throw StatusError.badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}

export function groupResource({ resource }: ResourceCall<ServedResource>): GroupResource {
  return { group: resource.group, resource: resource.resource };
}

export function admissionAttributes(call: ResourceCall<ServedResource>, request: AdmissionRequest): AdmissionAttributes {
  return {
    operation: request.operation,
    object: request.object,
    oldObject: request.oldObject,
    dryRun: request.dryRun,
    options: request.options,
    name: request.name ?? call.name,
    resource: call.resource,
    subresource: call.subresource,
    namespace: call.namespace,
    user: call.user,
    warn: (message) => warn(call.request, message),
    audit: call.request.audit?.record,
  };
}
