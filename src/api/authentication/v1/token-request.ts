import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, listOf, message, named, nullable, object, string, time } from '../../schema.ts';

export const BoundObjectReference = object('io.k8s.api.authentication.v1.BoundObjectReference', 'The object that a token dies with.', {
  kind: field(1, string, 'The kind.'),
  apiVersion: field(2, string, 'The API version.'),
  name: field(3, string, 'The name.'),
  uid: field(4, named('types.UID'), 'The unique id.'),
});
export type BoundObjectReference = Infer<typeof BoundObjectReference>;

export const TokenRequestSpec = object('io.k8s.api.authentication.v1.TokenRequestSpec', 'What a token is for.', {
  audiences: always(1, listOf(string), 'Who the token is meant for.'),
  expirationSeconds: nullable(4, int64, 'How long it is to be good; the server may choose otherwise.'),
  boundObjectRef: nullable(3, BoundObjectReference, 'The object that the token dies with.'),
});
export type TokenRequestSpec = Infer<typeof TokenRequestSpec>;

export const TokenRequestStatus = object('io.k8s.api.authentication.v1.TokenRequestStatus', 'A token.', {
  token: always(1, string, 'The token itself.'),
  expirationTimestamp: always(2, time, 'When it expires.'),
});
export type TokenRequestStatus = Infer<typeof TokenRequestStatus>;

export const TokenRequest = message('io.k8s.api.authentication.v1.TokenRequest', 'Asks for a token of a service account.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  spec: always(2, TokenRequestSpec, 'What the token is for.'),
  status: always(3, TokenRequestStatus, 'The token.'),
});
export type TokenRequest = Infer<typeof TokenRequest>;
