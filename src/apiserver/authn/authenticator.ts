import type { ApiRequest } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';

/** Authenticates requests. Undefined without credentials of its kind; throws on invalid ones. */
export interface Authenticator {
  authenticate(request: ApiRequest): UserInfo | undefined | Promise<UserInfo | undefined>;
}

/** The user of a token. */
export interface TokenResponse {
  readonly user: UserInfo;
  /** The requested audiences that the token is valid for; absent when the token has none. */
  readonly audiences?: readonly string[];
  /** Warnings for the client. */
  readonly warnings?: readonly string[];
}

/** Authenticates one kind of token. Undefined for other kinds; throws on an invalid token of this kind. */
export interface TokenAuthenticator {
  authenticateToken(token: string, audiences: readonly string[]): TokenResponse | undefined | Promise<TokenResponse | undefined>;
}
