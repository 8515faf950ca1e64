import { type ApiRequest, warn } from '../request/api-request.ts';
import type { Authenticator, TokenAuthenticator, TokenVerdict } from './authenticator.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';
import { authenticated, type UserInfo } from './user.ts';

const INVALID = 'invalid bearer token';
const NO_ERRORS: readonly string[] = [];

/** What became of a token: who it stands for, or why nobody. */
export interface TokenReviewResult {
  readonly verdict?: TokenVerdict;
  /** Why each authenticator that knows this kind of token refused it. */
  readonly errors: readonly string[];
}

/**
 * Tokens of several kinds. Each authenticator is asked in turn; the first that knows the token decides, and a refusal by one does not keep the
 * others from accepting. What is not accepted is an error, never an anonymous request.
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
    return result instanceof Promise ? result.then((answer) => userOf(answer, request)) : userOf(result, request);
  }

  /** Answers at once unless an authenticator has to wait. */
  check(token: string, audiences: readonly string[] = this.#audiences): TokenReviewResult | Promise<TokenReviewResult> {
    const errors: string[] = [];
    for (const [index, authenticator] of this.#authenticators.entries()) {
      const answer = attempt(authenticator, token, audiences, errors);
      if (answer instanceof Promise) return this.#waiting(answer, { token, audiences, errors, next: index + 1 });
      const verdict = this.#accepted(answer, audiences);
      if (verdict !== undefined) return { verdict, errors: NO_ERRORS };
    }
    return { errors };
  }

  async #waiting(first: Promise<TokenVerdict | undefined>, { token, audiences, errors, next }: Asking): Promise<TokenReviewResult> {
    let verdict = this.#accepted(await first.catch((error: unknown) => refused(error, errors)), audiences);
    for (const authenticator of this.#authenticators.slice(next)) {
      if (verdict !== undefined) break;
      const answer = Promise.resolve(attempt(authenticator, token, audiences, errors));
      verdict = this.#accepted(await answer.catch((error: unknown) => refused(error, errors)), audiences);
    }
    return verdict === undefined ? { errors } : { verdict, errors: NO_ERRORS };
  }

  /** A token that does not say whom it is for is for the API server, and only for it. */
  #accepted(verdict: TokenVerdict | undefined, asked: readonly string[]): TokenVerdict | undefined {
    if (verdict === undefined) return undefined;
    const audiences = verdict.audiences ?? asked.filter((audience) => this.#audiences.includes(audience));
    if (asked.length > 0 && audiences.length === 0) return undefined;
    return Object.assign({}, verdict, { user: authenticated(verdict.user), audiences });
  }
}

interface Asking {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly errors: string[];
  readonly next: number;
}

function attempt(authenticator: TokenAuthenticator, token: string, audiences: readonly string[], errors: string[]) {
  try {
    return authenticator.authenticateToken(token, audiences);
  } catch (error) {
    return refused(error, errors);
  }
}

function refused(error: unknown, errors: string[]): undefined {
  errors.push(error instanceof Error ? error.message : String(error));
  return undefined;
}

function userOf({ verdict, errors }: TokenReviewResult, request: ApiRequest): UserInfo {
  if (verdict === undefined) throw new Error(refusalText(errors));
  for (const warning of verdict.warnings ?? []) warn(request, warning);
  return verdict.user;
}

/** The words of a review that refuses a token. */
export function refusalText(errors: readonly string[]): string {
  const texts = [...new Set([INVALID, ...errors])];
  return texts.length === 1 ? INVALID : `[${texts.join(', ')}]`;
}
