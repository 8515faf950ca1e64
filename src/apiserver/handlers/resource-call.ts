import type { Clock, Random } from '#base';
import type { GroupResource } from '#machinery';
import type { AdmissionAttributes, AdmissionChain, Operation } from '../admission/admission.ts';
import type { UserInfo } from '../authn/user.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { ResourceTable } from '../registry/resource-table.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { RequestScope } from '../registry/strategy.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { warn } from '../request/api-request.ts';

/** What every handler of a stored resource needs from the server. */
export interface HandlerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  /** What else is served: some requests name another kind than the one they are for. */
  readonly table: ResourceTable;
  /** Asked again where a request turns out to need another right than its method says. Absent: nobody is refused. */
  readonly authorizer?: Authorizer;
  /** How long a watch lasts at least whose client does not say. */
  readonly minWatchTimeoutMs?: number;
}

/** A request for one stored resource, once routed. */
export interface ResourceCall {
  readonly request: ApiRequest;
  readonly resource: ServedResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly deps: HandlerDeps;
}

export function groupResource({ resource }: ResourceCall): GroupResource {
  return { group: resource.group, resource: resource.resource };
}

export function scopeOf({ user, deps }: ResourceCall): RequestScope {
  return { user, now: deps.clock.now() };
}

export interface AdmissionRequest {
  readonly operation: Operation;
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly dryRun: boolean;
  readonly options: unknown;
  /** When the name is known only after it was generated, or the subresource differs from the call's. */
  readonly name?: string;
}

export function admissionAttributes(call: ResourceCall, request: AdmissionRequest): AdmissionAttributes {
  // Written out: copying one by one costs a tenth of a spread, and every write makes two of these.
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
    auditAnnotations: new Map(),
  };
}
