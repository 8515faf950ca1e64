import { field, type Infer, listOf, mapOf, named, object, string, unmarkedListOf } from '../../schema.ts';

export const UserInfo = object('io.k8s.api.authentication.v1.UserInfo', 'A user, as the API server knows them.', {
  username: field(1, string, 'The name, unique among active users.'),
  uid: field(2, string, 'A unique id, different for users that have the same name at different times.'),
  groups: field(3, listOf(string), 'The groups that the user is in.'),
  extra: field(4, mapOf(named('v1.ExtraValue', unmarkedListOf(string))), 'Anything else that the authenticator knows.'),
});
export type UserInfo = Infer<typeof UserInfo>;
