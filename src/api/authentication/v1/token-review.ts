import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, kind, listOf, object, required, string } from '../../schema.ts';
import { UserInfo } from './user-info.ts';

export const TokenReviewSpec = object('io.k8s.api.authentication.v1.TokenReviewSpec', '', {
  token: field(1, string, '', { required: true }),
  audiences: field(2, listOf(string)),
});
export type TokenReviewSpec = Infer<typeof TokenReviewSpec>;

export const TokenReviewStatus = object('io.k8s.api.authentication.v1.TokenReviewStatus', '', {
  authenticated: field(1, bool),
  user: always(2, UserInfo),
  audiences: field(4, listOf(string)),
  error: field(3, string),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, TokenReviewSpec),
    status: always(3, TokenReviewStatus),
  },
);
export type TokenReview = Infer<typeof TokenReview>;
