import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, object, required, string } from '../../schema.ts';
import { UserInfo } from './user-info.ts';

export const TokenReviewSpec = object('io.k8s.api.authentication.v1.TokenReviewSpec', 'The token to check.', {
  token: field(1, string, 'The bearer token.', { required: true }),
  audiences: field(2, listOf(string), 'Who the token must be meant for; the API server by default.'),
});
export type TokenReviewSpec = Infer<typeof TokenReviewSpec>;

export const TokenReviewStatus = object('io.k8s.api.authentication.v1.TokenReviewStatus', 'Whether the token is good.', {
  authenticated: field(1, bool, 'Whether it is good.'),
  user: always(2, UserInfo, 'Whose it is.'),
  audiences: field(4, listOf(string), 'The requested audiences for which the token is valid.'),
  error: field(3, string, 'Why it could not be checked.'),
});
export type TokenReviewStatus = Infer<typeof TokenReviewStatus>;

export const TokenReview = kind(
  {
    name: 'io.k8s.api.authentication.v1.TokenReview',
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenReview',
    resource: 'tokenreviews',
    namespaced: false,
  },
  'Asks whether a token is good, and whose it is.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, TokenReviewSpec, 'The token.'),
    status: always(3, TokenReviewStatus, 'Whose it is, if it is good.'),
  },
);
export type TokenReview = Infer<typeof TokenReview>;
