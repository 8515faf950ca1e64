import type { Clock, Logger, MetricsRegistry } from '#base';
import { WatchedFile } from '../config-file/watched-file.ts';
import type { EgressSelector } from '../egress/egress-selector.ts';
import type { TokenAuthenticator, TokenResponse } from './authenticator.ts';
import { type AnonymousConfiguration, parseAuthenticationConfiguration } from './oidc/authentication-configuration.ts';
import { JwtAuthenticator } from './oidc/jwt-authenticator.ts';

export interface StructuredAuthenticationDeps {
  /** The cluster's clock, for token validity. */
  readonly clock: Clock;
  /** Real time. */
  readonly realClock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly apiServerId?: string | undefined;
  readonly egress?: EgressSelector | undefined;
  /** Service account issuers, which JWT authenticators must not use. */
  readonly disallowedIssuers: readonly string[];
}

interface LoadedAuthentication {
  readonly authenticators: readonly TokenAuthenticator[];
  readonly anonymous: AnonymousConfiguration | undefined;
}

/** Authentication by an AuthenticationConfiguration file: JWT issuers and anonymous access. */
export class StructuredAuthentication implements TokenAuthenticator {
  readonly #file: WatchedFile<LoadedAuthentication>;

  /** Throws when the file is invalid. */
  constructor(path: string, deps: StructuredAuthenticationDeps) {
    const parse = (text: string): LoadedAuthentication => {
      const { jwt, anonymous } = parseAuthenticationConfiguration(text, deps.disallowedIssuers);
      return { authenticators: jwt.map((entry) => new JwtAuthenticator(entry, deps)), anonymous };
    };
    this.#file = new WatchedFile({ path, parse, subject: 'authentication' }, { ...deps, clock: deps.realClock });
  }

  /** By the token's issuer: at most one authenticator matches. */
  authenticateToken(token: string, audiences: readonly string[]): TokenResponse | undefined | Promise<TokenResponse | undefined> {
    for (const authenticator of this.#file.current.authenticators) {
      const response = authenticator.authenticateToken(token, audiences);
      if (response !== undefined) return response;
    }
    return undefined;
  }

  /** Undefined when the configuration does not set it. */
  allowsAnonymous(path: string): boolean | undefined {
    const { anonymous } = this.#file.current;
    return anonymous?.enabled && (anonymous.paths?.has(path) ?? true);
  }

  get configuresAnonymous(): boolean {
    return this.#file.current.anonymous !== undefined;
  }

  reload(): void {
    this.#file.reload();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#file.run(signal);
  }
}
