import type { authorization } from '#api';
import { StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { VerbHandler } from '../handler-table.ts';
import { admitReview, reviewHandler, validateReview } from './review-call.ts';

/** SelfSubjectRulesReview: `kubectl auth can-i --list`. */
export function selfSubjectRulesReviews(authorizer: Authorizer): VerbHandler {
  return reviewHandler(async (call) => {
    const review = await admitReview(call);
    const { namespace = '' } = (review.spec ?? {}) as authorization.SelfSubjectRulesReviewSpec;
    if (namespace === '') throw StatusError.badRequest('no namespace on request');
    await validateReview({ ...call, review });
    const { resourceRules, nonResourceRules, incomplete, evaluationError } = await authorizer.rulesFor(call.call.user, namespace);
    const { kind, apiVersion } = call.call.resource;
    const status = { resourceRules, nonResourceRules, incomplete, ...(evaluationError !== undefined && { evaluationError }) };
    // The response has no spec.
    return { kind, apiVersion, metadata: {}, spec: {}, status } as unknown as KubeObject;
  });
}
