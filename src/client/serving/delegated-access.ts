import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { authentication, authorization } from '#api';
import { type Clock, DerError, Lru, readCertificateSubject } from '#base';
import type { Client } from '../client.ts';

/** The user of a request to a component. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Cache TTLs. */
export interface DelegationTimes {
  readonly tokenMs: number;
  readonly allowedMs: number;
  readonly deniedMs: number;
}

export interface DelegatedAccessDeps {
  readonly client: Client;
  /** The client for SubjectAccessReviews, if it has another identity. */
  readonly accessClient?: Client;
  readonly clock: Clock;
}

/** The attributes of a SubjectAccessReview. */
export type AccessAttributes = Pick<authorization.SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

export const ANONYMOUS: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const MAX_REMEMBERED = 1000;

const ACCESS_REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews', namespaced: false };
const TOKEN_REVIEWS = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews', namespaced: false };

interface CachedValue<T> {
  readonly value: T;
  readonly untilMs: number;
}

/** Authenticates callers by certificate or token; tokens and permissions are checked by the API server and cached. */
export class DelegatedAccess {
  readonly #decisions = new Lru<string, CachedValue<boolean>>({ capacity: MAX_REMEMBERED });
  readonly #tokens = new Lru<string, CachedValue<Caller | undefined>>({ capacity: MAX_REMEMBERED });

  constructor(
    private readonly deps: DelegatedAccessDeps,
    private readonly times: DelegationTimes,
  ) {}

  async callerByToken(token: string): Promise<Caller | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    return remember(this.#tokens, key, this.deps.clock, async () => {
      const review = await this.deps.client.resource(TOKEN_REVIEWS).create({ spec: { token } });
      const { authenticated, user } = (review.status ?? {}) as authentication.TokenReviewStatus;
      const { username: name = '', groups = [], uid, extra } = user ?? {};
      const caller = authenticated && name !== '' ? { name, groups, ...(uid && { uid }), ...(extra && { extra }) } : undefined;
      return { value: caller, keepMs: caller === undefined ? this.times.deniedMs : this.times.tokenMs };
    });
  }

  isAllowed(caller: Caller, attributes: AccessAttributes): Promise<boolean> {
    const key = JSON.stringify([attributes, caller]);
    return remember(this.#decisions, key, this.deps.clock, async () => {
      const allowed = await this.#postReview(caller, attributes);
      return { value: allowed, keepMs: allowed ? this.times.allowedMs : this.times.deniedMs };
    });
  }

  async #postReview({ name, groups, uid, extra }: Caller, attributes: AccessAttributes): Promise<boolean> {
    const spec = { user: name, groups, ...(uid && { uid }), ...(extra && { extra }), ...attributes };
    const { client, accessClient = client } = this.deps;
    const review = await accessClient.resource(ACCESS_REVIEWS).create({ spec });
    return (review.status as authorization.SubjectAccessReviewStatus | undefined)?.allowed === true;
  }
}

async function remember<T>(
  remembered: Lru<string, CachedValue<T>>,
  key: string,
  clock: Clock,
  fetch: () => Promise<{ readonly value: T; readonly keepMs: number }>,
): Promise<T> {
  const before = remembered.get(key);
  if (before !== undefined && before.untilMs > clock.now()) return before.value;
  const { value, keepMs } = await fetch();
  remembered.set(key, { value, untilMs: clock.now() + keepMs });
  return value;
}

/** Parses the subject as the API server does: with several common names the same one counts. */
export function callerByCertificate(socket: TLSSocket): Caller | undefined {
  const { raw } = socket.getPeerCertificate();
  if (!socket.authorized || raw === undefined) return undefined;
  try {
    const { commonName, organizations } = readCertificateSubject(raw);
    return commonName ? { name: commonName, groups: [...organizations, 'system:authenticated'] } : undefined;
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

export function bearerToken(authorizationHeader: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorizationHeader ?? '')?.[1];
}
