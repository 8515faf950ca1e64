import { Lru } from '#base';
import { goQuote, StatusError } from '#machinery';
import type { UserInfo } from '../authn/user.ts';
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';
import { attributesOf, type Filter, refusal } from './chain.ts';
import { IMPERSONATION_MODES, type ImpersonationMode, type WantedUser } from './impersonation-modes.ts';

const PREFIX = 'impersonate-';
const EXTRA_PREFIX = 'impersonate-extra-';
const REMEMBERED_USERS = 10_000;

/** Lets those who may act as somebody else: from here on the request is that user's. */
export function impersonate(authorizer: Authorizer): Filter {
  const lastModes = new Lru<string, ImpersonationMode>({ capacity: REMEMBERED_USERS });
  const become = async (request: ApiRequest, lines: readonly HeaderLine[]): Promise<void> => {
    const wanted = wantedUser(lines);
    if (wanted === undefined) return;
    const attributes = attributesOf(request, request.user!);
    request.user = await impersonatedUser({ wanted, attributes, authorizer }, lastModes);
  };
  return (request, next) => {
    const lines = request.headerLines?.(PREFIX) ?? [];
    if (lines.length === 0) return next(request);
    return become(request, lines).then(
      () => next(request),
      (error: Error) => refusal(error),
    );
  };
}

/** Whom the headers name; undefined when they name nobody. */
function wantedUser(lines: readonly HeaderLine[]): WantedUser | undefined {
  const first = (header: string) => lines.find(({ name }) => name === header)?.value ?? '';
  const groups = lines.filter(({ name }) => name === 'impersonate-group').map(({ value }) => value);
  const extra = new Map<string, string[]>();
  for (const { name, value } of lines) {
    if (!name.startsWith(EXTRA_PREFIX)) continue;
    const key = unescaped(name.slice(EXTRA_PREFIX.length));
    extra.set(key, [...(extra.get(key) ?? []), value]);
  }
  const wanted = { name: first('impersonate-user'), uid: first('impersonate-uid'), groups, extra };
  if (wanted.name !== '') return wanted;
  if (wanted.uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw StatusError.badRequest(`requested ${userText(wanted)} without impersonating a user name`);
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function userText({ name, uid, groups, extra }: WantedUser): string {
  const list = (values: readonly string[]) => (values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`);
  const entries = [...extra].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const extraText = extra.size === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${extraText}}`;
}

export interface Impersonation {
  readonly wanted: WantedUser;
  /** The request, as the one who sends it. */
  readonly attributes: AuthorizationAttributes;
  readonly authorizer: Authorizer;
}

/**
 * Tries the ways of impersonation, the more constrained before the others, but the one that last succeeded for this user before all: most use
 * only one. When none allows it, the first refusal is told.
 */
async function impersonatedUser(impersonation: Impersonation, lastModes: Lru<string, ImpersonationMode>): Promise<UserInfo> {
  const requestor = impersonation.attributes.user.name;
  const last = lastModes.get(requestor);
  const modes = last === undefined ? IMPERSONATION_MODES : [last, ...IMPERSONATION_MODES.filter((mode) => mode !== last)];
  let refusal: unknown;
  for (const mode of modes) {
    if (!mode.applies(impersonation)) continue;
    try {
      const user = await mode.check(impersonation);
      lastModes.set(requestor, mode);
      return user;
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}
