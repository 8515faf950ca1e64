import { Lru } from '#base';
import { goQuote, StatusError } from '#machinery';
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts';
import { attributesOf } from '../authz/request-attributes.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { type HeaderLine, unescapedKey } from '../request/header-lines.ts';
import type { UserInfo } from '../request/user.ts';
import { errorResponse } from './authorization.ts';
import type { Filter } from './chain.ts';
import { IMPERSONATION_MODES, type ImpersonatedUser, type ImpersonationMode } from './impersonation-modes.ts';

const PREFIX = 'impersonate-';
const EXTRA_PREFIX = 'impersonate-extra-';
const REMEMBERED_USERS = 10_000;

/** Replaces the user of the request if the requestor may impersonate. */
export function impersonate(authorizer: Authorizer): Filter {
  const lastModes = new Lru<string, ImpersonationMode>({ capacity: REMEMBERED_USERS });
  const become = async (request: ApiRequest, lines: readonly HeaderLine[]): Promise<void> => {
    const target = readImpersonationHeaders(lines);
    if (target === undefined) return;
    const attributes = attributesOf(request, request.user!);
    const { user, mode } = await impersonatedUser({ target, attributes, authorizer }, lastModes);
    request.user = user;
    request.audit?.record?.setImpersonatedUser(user, mode.isConstrained ? `impersonate:${mode.name}` : '');
  };
  return (request, next) => {
    const lines = request.headerLines?.(PREFIX) ?? [];
    if (lines.length === 0) return next(request);
    return become(request, lines).then(
      () => next(request),
      (error: Error) => errorResponse(error),
    );
  };
}

/** The impersonated user; undefined without impersonation headers. */
function readImpersonationHeaders(lines: readonly HeaderLine[]): ImpersonatedUser | undefined {
  const first = (header: string) => lines.find(({ name }) => name === header)?.value ?? '';
  const groups = lines.filter(({ name }) => name === 'impersonate-group').map(({ value }) => value);
  const extra = new Map<string, string[]>();
  for (const { name, value } of lines) {
    if (!name.startsWith(EXTRA_PREFIX)) continue;
    const key = unescapedKey(name.slice(EXTRA_PREFIX.length));
    extra.set(key, [...(extra.get(key) ?? []), value]);
  }
  const target = { name: first('impersonate-user'), uid: first('impersonate-uid'), groups, extra };
  if (target.name !== '') return target;
  if (target.uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw StatusError.badRequest(`requested ${userText(target)} without impersonating a user name`);
}

function userText({ name, uid, groups, extra }: ImpersonatedUser): string {
  const list = (values: readonly string[]) => (values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`);
  const entries = [...extra].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const extraText = extra.size === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${extraText}}`;
}

export interface Impersonation {
  readonly target: ImpersonatedUser;
  /** The request with its original user. */
  readonly attributes: AuthorizationAttributes;
  readonly authorizer: Authorizer;
}

interface AllowedImpersonation {
  readonly user: UserInfo;
  readonly mode: ImpersonationMode;
}

/**
 * Tries impersonation modes from the most constrained on; the mode that last succeeded for the requestor comes first. If none allows it,
 * throws the first error.
 */
async function impersonatedUser(impersonation: Impersonation, lastModes: Lru<string, ImpersonationMode>): Promise<AllowedImpersonation> {
  const requestor = impersonation.attributes.user.name;
  const last = lastModes.get(requestor);
  const modes = last === undefined ? IMPERSONATION_MODES : [last, ...IMPERSONATION_MODES.filter((mode) => mode !== last)];
  let firstError: unknown;
  for (const mode of modes) {
    if (!mode.applies(impersonation)) continue;
    try {
      const user = await mode.check(impersonation);
      lastModes.set(requestor, mode);
      return { user, mode };
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}
