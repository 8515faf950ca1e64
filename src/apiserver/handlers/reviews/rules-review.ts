import type { authorization } from '#api';
import { StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { Handler } from '../../request/api-response.ts';
import type { HandlerDeps } from '../resource-call.ts';
import { admitReview, reviewHandler, validateReview } from './review-call.ts';

/** Tells who asks what they may do in a namespace: `kubectl auth can-i --list`. */
export function selfSubjectRulesReviews(authorizer: Authorizer, deps: () => HandlerDeps): Handler {
  return reviewHandler(deps, async (call) => {
    const review = await admitReview(call);
    const { namespace = '' } = (review.spec ?? {}) as authorization.SelfSubjectRulesReviewSpec;
    if (namespace === '') throw StatusError.badRequest('no namespace on request');
    await validateReview({ ...call, review });
    const { resourceRules, nonResourceRules, incomplete, evaluationError } = await authorizer.rulesFor(call.call.user, namespace);
    const { kind, apiVersion } = call.call.resource;
    const status = { resourceRules, nonResourceRules, incomplete, ...(evaluationError !== undefined && { evaluationError }) };
    // What was asked is not repeated.
    return { kind, apiVersion, metadata: {}, spec: {}, status } as unknown as KubeObject;
  });
}
