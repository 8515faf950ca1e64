import { mapMaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { Authorizer, Decision } from '../authz/authorizer.ts';
import { denialError } from '../authz/denial-error.ts';
import { attributesOf } from '../authz/request-attributes.ts';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { AuditRecord } from '../request/api-request.ts';
import type { AccessMetrics } from './access-metrics.ts';
import type { Filter } from './chain.ts';

/** Rejects requests that the authorizer does not allow. */
export function authorize(authorizer: Authorizer, access: AccessMetrics): Filter {
  return (request, next) => {
    const attributes = attributesOf(request, request.user!);
    const count = access.beginAuthorization();
    const settle = (decision: Decision) => {
      count(decision);
      if (request.audit?.record !== undefined) annotateDecision(request.audit.record, decision);
      return decision.verdict === 'allow' ? next(request) : errorResponse(denialError(attributes, decision));
    };
    return mapMaybePromise(authorizer.authorize(attributes), settle);
  };
}

function annotateDecision(record: AuditRecord, { verdict, reason, error }: Decision): void {
  const isDecided = verdict === 'allow' || error === undefined;
  if (isDecided) record.annotate('authorization.k8s.io/decision', verdict === 'allow' ? 'allow' : 'forbid');
  record.annotate('authorization.k8s.io/reason', isDecided ? reason : 'internal error');
}

/** The response of a filter that rejects a request. Its headers keep browsers from rendering it as anything else. */
export function errorResponse(error: Error): ApiResponse {
  if (!(error instanceof StatusError)) throw error;
  return { type: 'plain', code: error.code, object: { ...error.status }, headers: { 'x-content-type-options': 'nosniff' } };
}
