import { isPromise, mapMaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { Authenticator } from '../authn/authenticator.ts';
import { bearerToken } from '../authn/bearer-token.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { ANONYMOUS, type UserInfo } from '../request/user.ts';
import type { AccessMetrics } from './access-metrics.ts';
import type { Filter } from './chain.ts';

export interface AuthenticationOptions {
  readonly authenticators: readonly Authenticator[];
  /** Whether a request for this path needs no credentials. */
  readonly allowsAnonymous: (path: string) => boolean;
  /** Called for unauthenticated requests that may not be anonymous. */
  readonly onFailure?: ((request: ApiRequest) => void) | undefined;
  readonly access?: AccessMetrics;
}

/** Authenticates the request. The first authenticator that accepts its credentials wins. */
export function authenticate({ authenticators, allowsAnonymous, onFailure, access }: AuthenticationOptions): Filter {
  return (request, next) => {
    if (request.user !== undefined) return next(request);
    const attempt = { request, authenticators, hasBadCredentials: false };
    const settle = access?.beginAuthentication();
    const enter = (identity: Identity) => {
      const user = userOf(identity, () => allowsAnonymous(request.path));
      settle?.(user !== undefined ? 'success' : identity === BAD_CREDENTIALS ? 'error' : 'failure', user?.name);
      if (user === undefined) {
        onFailure?.(request);
        throw StatusError.unauthorized('Unauthorized');
      }
      request.user = user;
      return next(request);
    };
    const identity = identify(attempt, 0);
    return mapMaybePromise(identity, enter);
  };
}

interface Attempt {
  readonly request: ApiRequest;
  readonly authenticators: readonly Authenticator[];
  hasBadCredentials: boolean;
}

const BAD_CREDENTIALS = 'bad credentials';
type Identity = UserInfo | typeof BAD_CREDENTIALS | undefined;

/** Synchronous unless an authenticator is not. A rejected credential does not stop the following authenticators. */
function identify(attempt: Attempt, from: number): Identity | Promise<Identity> {
  for (let i = from; i < attempt.authenticators.length; i++) {
    try {
      const user = attempt.authenticators[i]!.authenticate(attempt.request);
      if (isPromise(user)) return user.catch(() => markBadCredentials(attempt)).then((identity) => identity ?? identify(attempt, i + 1));
      if (user !== undefined) return user;
    } catch {
      markBadCredentials(attempt);
    }
  }
  return attempt.hasBadCredentials || bearerToken(attempt.request) !== undefined ? BAD_CREDENTIALS : undefined;
}

function markBadCredentials(attempt: Attempt): undefined {
  attempt.hasBadCredentials = true;
}

/** Invalid credentials do not make the request anonymous. */
function userOf(identity: Identity, allowsAnonymous: () => boolean): UserInfo | undefined {
  if (identity === BAD_CREDENTIALS) return undefined;
  return identity ?? (allowsAnonymous() ? ANONYMOUS : undefined);
}
