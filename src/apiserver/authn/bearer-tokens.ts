import { isPromise, mapMaybePromise } from '#base';
import { type ApiRequest, warn } from '../request/api-request.ts';
import { authenticated, type UserInfo } from '../request/user.ts';
import type { Authenticator, TokenAuthenticator, TokenResponse } from './authenticator.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';

const INVALID = 'invalid bearer token';
const NO_ERRORS: readonly string[] = [];

/** The result of a token review: the user, or the errors. */
export interface TokenReviewResult {
  readonly response?: TokenResponse;
  /** The errors of the authenticators that know this kind of token. */
  readonly errors: readonly string[];
}

/**
 * A union of token authenticators. The first that accepts the token wins; a rejection by one does not keep the
 * others from accepting. A token that none accepts is an error, never an anonymous request.
 */
export class BearerTokens implements Authenticator {
  readonly #authenticators: readonly TokenAuthenticator[];
  readonly #audiences: readonly string[];

  constructor(authenticators: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#authenticators = authenticators;
    this.#audiences = audiences;
  }

  authenticate(request: ApiRequest): UserInfo | undefined | Promise<UserInfo | undefined> {
    const token = bearerToken(request) ?? webSocketToken(request);
    if (token === undefined) return undefined;
    const result = this.check(token, this.#audiences);
    return mapMaybePromise(result, (answer) => userOf(answer, request));
  }

  /** Synchronous unless an authenticator is not. */
  check(token: string, audiences: readonly string[] = this.#audiences): TokenReviewResult | Promise<TokenReviewResult> {
    const errors: string[] = [];
    for (const [index, authenticator] of this.#authenticators.entries()) {
      const answer = attempt(authenticator, token, audiences, errors);
      if (isPromise(answer)) return this.#waiting(answer, { token, audiences, errors, next: index + 1 });
      const response = this.#accepted(answer, audiences);
      if (response !== undefined) return { response, errors: NO_ERRORS };
    }
    return { errors };
  }

  async #waiting(first: Promise<TokenResponse | undefined>, { token, audiences, errors, next }: TokenCheck): Promise<TokenReviewResult> {
    let response = this.#accepted(await first.catch((error: unknown) => recordError(error, errors)), audiences);
    for (const authenticator of this.#authenticators.slice(next)) {
      if (response !== undefined) break;
      const answer = Promise.resolve(attempt(authenticator, token, audiences, errors));
      response = this.#accepted(await answer.catch((error: unknown) => recordError(error, errors)), audiences);
    }
    return response === undefined ? { errors } : { response, errors: NO_ERRORS };
  }

  /** A token without audiences is valid for the API server only. */
  #accepted(response: TokenResponse | undefined, requested: readonly string[]): TokenResponse | undefined {
    if (response === undefined) return undefined;
    const audiences = response.audiences ?? requested.filter((audience) => this.#audiences.includes(audience));
    if (requested.length > 0 && audiences.length === 0) return undefined;
    return Object.assign({}, response, { user: authenticated(response.user), audiences });
  }
}

interface TokenCheck {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly errors: string[];
  readonly next: number;
}

function attempt(authenticator: TokenAuthenticator, token: string, audiences: readonly string[], errors: string[]) {
  try {
    return authenticator.authenticateToken(token, audiences);
  } catch (error) {
    return recordError(error, errors);
  }
}

function recordError(error: unknown, errors: string[]): undefined {
  errors.push(error instanceof Error ? error.message : String(error));
  return undefined;
}

function userOf({ response, errors }: TokenReviewResult, request: ApiRequest): UserInfo {
  if (response === undefined) throw new Error(rejectionText(errors));
  for (const warning of response.warnings ?? []) warn(request, warning);
  return response.user;
}

/** The error of a review that rejects a token. */
export function rejectionText(errors: readonly string[]): string {
  const texts = [...new Set([INVALID, ...errors])];
  return texts.length === 1 ? INVALID : `[${texts.join(', ')}]`;
}
