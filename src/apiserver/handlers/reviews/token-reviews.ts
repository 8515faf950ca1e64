import type { authentication } from '#api';
import { formatTime, StatusError } from '#machinery';
import { type BearerTokens, rejectionText, type TokenReviewResult } from '../../authn/bearer-tokens.ts';
import type { UserInfo } from '../../request/user.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { VerbHandler } from '../handler-table.ts';
import { admitReview, reviewHandler, validateReview } from './review-call.ts';

/** TokenReview: the user of a token. */
export function tokenReviews(tokens: BearerTokens): VerbHandler {
  return reviewHandler(async (call) => {
    const review = await admitReview(call);
    const { token = '', audiences = [] } = (review.spec ?? {}) as authentication.TokenReviewSpec;
    if (token === '') throw StatusError.badRequest('token is required for TokenReview in authentication');
    await validateReview({ ...call, review });
    const result = await tokens.check(token, audiences.length > 0 ? audiences : undefined);
    return { ...review, status: statusOf(result) };
  });
}

function statusOf({ response, errors }: TokenReviewResult): authentication.TokenReviewStatus {
  if (response === undefined) return { user: {}, error: rejectionText(errors) };
  const { user, audiences = [] } = response;
  return { authenticated: true, user: userInfo(user), ...(audiences.length > 0 && { audiences }) };
}

/** SelfSubjectReview: `kubectl auth whoami`. */
export function selfSubjectReviews(): VerbHandler {
  return reviewHandler(async (call) => {
    const review = await admitReview(call);
    await validateReview({ ...call, review });
    const { resource, user, deps: server } = call.call;
    const metadata = { creationTimestamp: formatTime(server.clock.now()) };
    const { kind, apiVersion } = resource;
    return { kind, apiVersion, metadata, status: { userInfo: userInfo(user) } } as unknown as KubeObject;
  });
}

function userInfo({ name, uid, groups, extra }: UserInfo): authentication.UserInfo {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
