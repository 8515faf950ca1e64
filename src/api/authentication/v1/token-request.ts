import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, listOf, message, nullable, object, string, time } from '../../schema.ts';

export const BoundObjectReference = object('io.k8s.api.authentication.v1.BoundObjectReference', '', {
  kind: field(1, string),
  apiVersion: field(2, string),
  name: field(3, string),
  uid: field(4, string),
});
export type BoundObjectReference = Infer<typeof BoundObjectReference>;

export const TokenRequestSpec = object('io.k8s.api.authentication.v1.TokenRequestSpec', '', {
  audiences: always(1, listOf(string)),
  expirationSeconds: nullable(4, int64),
  boundObjectRef: nullable(3, BoundObjectReference),
});
export type TokenRequestSpec = Infer<typeof TokenRequestSpec>;

export const TokenRequestStatus = object('io.k8s.api.authentication.v1.TokenRequestStatus', '', {
  token: always(1, string),
  expirationTimestamp: always(2, time),
});
export type TokenRequestStatus = Infer<typeof TokenRequestStatus>;

export const TokenRequest = message('io.k8s.api.authentication.v1.TokenRequest', '', {
  metadata: always(1, ObjectMeta),
  spec: always(2, TokenRequestSpec),
  status: always(3, TokenRequestStatus),
});
export type TokenRequest = Infer<typeof TokenRequest>;
