import type { ApiRequest } from '../request/api-request.ts';
import type { UserInfo } from './user.ts';

/** Says who a request comes from; undefined when it carries nothing this authenticator knows. Throws for bad credentials. */
export interface Authenticator {
  authenticate(request: ApiRequest): UserInfo | undefined | Promise<UserInfo | undefined>;
}

/** Who a token stands for. */
export interface TokenVerdict {
  readonly user: UserInfo;
  /** The audiences asked for that the token is good for; absent when it does not say whom it is for. */
  readonly audiences?: readonly string[];
  /** What the holder of the token should know. */
  readonly warnings?: readonly string[];
}

/** Knows one kind of token. Undefined when the token is of another kind; throws when it is of this kind and bad. */
export interface TokenAuthenticator {
  authenticateToken(token: string, audiences: readonly string[]): TokenVerdict | undefined | Promise<TokenVerdict | undefined>;
}
