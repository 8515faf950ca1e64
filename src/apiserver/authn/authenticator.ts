import type { ApiRequest } from '../request/api-request.ts';
import type { UserInfo } from './user.ts';

/** Says who a request comes from; undefined when it carries nothing this authenticator knows. Throws StatusError (401) for bad credentials. */
export interface Authenticator {
  authenticate(request: ApiRequest): UserInfo | undefined | Promise<UserInfo | undefined>;
}
