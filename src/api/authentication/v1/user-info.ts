import { field, type Infer, listOf, mapOf, object, string } from '../../schema.ts';

export const UserInfo = object('io.k8s.api.authentication.v1.UserInfo', '', {
  username: field(1, string),
  uid: field(2, string),
  groups: field(3, listOf(string)),
  extra: field(4, mapOf(listOf(string))),
});
export type UserInfo = Infer<typeof UserInfo>;
