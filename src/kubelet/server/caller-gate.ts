import type { TLSSocket } from 'node:tls';
import {
  ANONYMOUS,
  bearerToken,
  type Caller,
  callerByCertificate,
  DelegatedAccess,
  type DelegatedAccessDeps,
  type DelegationTimes,
} from '#client';

export interface Rejection {
  readonly code: 401 | 403 | 500;
  readonly message: string;
}

/** Delegates authentication and authorization to the API server, as upstream's kubelet. */
export type CallerGateDeps = DelegatedAccessDeps;

/** The authentication and authorization settings, and cache TTLs. */
export interface AccessPolicy extends DelegationTimes {
  /** Requests without credentials are `system:anonymous`. */
  readonly anonymous: boolean;
  /** Whether bearer tokens are accepted. */
  readonly tokens: boolean;
  /** Whether requests are authorized by the API server; otherwise every authenticated caller may do everything. */
  readonly authorizes: boolean;
}

/** Upstream's defaults. */
export const DEFAULT_ACCESS: AccessPolicy = {
  ...{ anonymous: false, tokens: true, authorizes: true },
  ...{ tokenMs: 120_000, allowedMs: 300_000, deniedMs: 30_000 },
};

/** Authenticates callers by certificate or token; tokens and permissions are checked by the API server and cached. */
export class CallerGate {
  readonly #access: DelegatedAccess;

  constructor(
    private readonly nodeName: string,
    deps: CallerGateDeps,
    private readonly policy: AccessPolicy = DEFAULT_ACCESS,
  ) {
    this.#access = new DelegatedAccess(deps, policy);
  }

  /** The rejection of a request; undefined when it is allowed. */
  async reject(request: {
    socket: TLSSocket;
    authorization: string | undefined;
    method: string;
    path: string;
  }): Promise<Rejection | undefined> {
    const caller = await this.#callerOf(request);
    if (caller === undefined) return { code: 401, message: 'Unauthorized' };
    if (!this.policy.authorizes) return undefined;
    // As upstream: other methods have no verb, which only rules for every verb allow.
    const verb = VERBS.get(request.method) ?? '';
    const subresources = subresourcesOf(request.path);
    for (const subresource of subresources) if (await this.#isAllowed(caller, verb, subresource)) return undefined;
    const message = `Forbidden (user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;
    return { code: 403, message };
  }

  /** An invalid token is rejected, not treated as anonymous. */
  async #callerOf({ socket, authorization }: { socket: TLSSocket; authorization: string | undefined }): Promise<Caller | undefined> {
    const { anonymous, tokens } = this.policy;
    const byCertificate = callerByCertificate(socket);
    if (byCertificate !== undefined) return byCertificate;
    const token = bearerToken(authorization);
    if (token !== undefined && tokens) return this.#access.callerByToken(token);
    return anonymous ? ANONYMOUS : undefined;
  }

  #isAllowed(caller: Caller, verb: string, subresource: string): Promise<boolean> {
    return this.#access.isAllowed(caller, {
      resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: this.nodeName },
    });
  }
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

const OWN_SUBRESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['metrics', ['metrics']],
  ['stats', ['stats']],
  ['logs', ['log']],
  ['checkpoint', ['checkpoint']],
  ['statusz', ['statusz']],
  ['flagz', ['configz']],
  ['healthz', ['healthz', 'proxy']],
  ['configz', ['configz', 'proxy']],
  ['pods', ['pods', 'proxy']],
  ['runningpods', ['pods', 'proxy']],
]);

/** The node subresources of a path for authorization, as upstream. Permission for any one suffices. */
export function subresourcesOf(path: string): readonly string[] {
  const [, first = ''] = path.split('/');
  return OWN_SUBRESOURCES.get(first) ?? ['proxy'];
}
