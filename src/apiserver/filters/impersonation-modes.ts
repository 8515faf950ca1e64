import { aggregateFieldErrors, checkDns1123Subdomain, goQuote, Path, validateDomainPrefixedPath } from '#machinery';
import { NODE_NAME_KEY } from '../authn/service-accounts/bound-claims.ts';
import { parseServiceAccountUsername, serviceAccountGroups } from '../authn/service-accounts/username.ts';
import {
  ANONYMOUS,
  AUTHENTICATED_GROUP,
  NODE_USER_PREFIX,
  NODES_GROUP,
  PRIVILEGED_GROUP,
  UNAUTHENTICATED_GROUP,
  type UserInfo,
} from '../authn/user.ts';
import type { AuthorizationAttributes } from '../authz/authorizer.ts';
import { forbidden } from './chain.ts';
import type { Impersonation } from './impersonation.ts';

/** The user that the headers of a request ask to be, as they say it. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface ImpersonationMode {
  readonly name: string;
  applies(impersonation: Impersonation): boolean;
  /** The user to be. Throws Forbidden when that is not allowed this way. */
  check(impersonation: Impersonation): Promise<UserInfo>;
}

const AUTHENTICATION_GROUP = 'authentication.k8s.io';
/** From this many values on, a right to all of them is asked for first. */
const MANY_VALUES = 4;

/** The ways to act as somebody else, in the order in which they are tried. */
export const IMPERSONATION_MODES: readonly ImpersonationMode[] = [
  constrained('associated-node', isAssociatedNode, asAnyNode),
  constrained('arbitrary-node', ({ wanted }) => isOnlyNamed(wanted) && nodeName(wanted.name) !== undefined),
  constrained('serviceaccount', ({ wanted }) => isOnlyNamed(wanted) && parseServiceAccountUsername(wanted.name) !== undefined),
  constrained('user-info', ({ wanted }) => nodeName(wanted.name) === undefined && parseServiceAccountUsername(wanted.name) === undefined),
  legacy(),
];

type Rewrite = (attributes: AuthorizationAttributes) => AuthorizationAttributes;

/** Takes a right to do this very thing as somebody else, and one to be the wanted user. */
function constrained(
  name: string,
  applies: ImpersonationMode['applies'],
  rewrite: Rewrite = (attributes) => attributes,
): ImpersonationMode {
  return {
    name,
    applies,
    async check(impersonation) {
      const { attributes } = impersonation;
      const rights = new Rights(impersonation, { verb: `impersonate:${name}`, isConstrained: true, rewrite });
      await rights.demand({ ...attributes, verb: `impersonate-on:${name}:${attributes.verb}` });
      return rights.wantedUser();
    },
  };
}

/** Takes a right to be the wanted user, whatever is done as them. */
function legacy(): ImpersonationMode {
  return {
    name: 'legacy',
    applies: () => true,
    check: (impersonation) =>
      new Rights(impersonation, { verb: 'impersonate', isConstrained: false, rewrite: (attributes) => attributes }).wantedUser(),
  };
}

interface RightsOptions {
  readonly verb: string;
  readonly isConstrained: boolean;
  readonly rewrite: Rewrite;
}

/** The rights to be a user: one for the name, one for each group, for the uid and for each value of the extra fields. */
class Rights {
  readonly #impersonation: Impersonation;
  readonly #options: RightsOptions;

  constructor(impersonation: Impersonation, options: RightsOptions) {
    this.#impersonation = impersonation;
    this.#options = options;
  }

  async wantedUser(): Promise<UserInfo> {
    const { wanted } = this.#impersonation;
    const impliedGroups = await this.#demandName(wanted);
    if (wanted.uid !== '') await this.demand(this.#right('uids', wanted.uid, AUTHENTICATION_GROUP));
    await this.#demandGroups(wanted.groups);
    await this.#demandExtra(wanted.extra);
    return {
      name: wanted.name,
      ...(wanted.uid !== '' && { uid: wanted.uid }),
      groups: withStandardGroup(wanted.name, impliedGroups ?? wanted.groups),
      ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }),
    };
  }

  async demand(asked: AuthorizationAttributes): Promise<void> {
    const attributes = this.#options.rewrite(asked);
    const { verdict, reason, error } = await this.#impersonation.authorizer.authorize(attributes);
    if (verdict === 'allow') return;
    throw forbidden(attributes, error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`);
  }

  #right(resource: string, name: string, group: string): AuthorizationAttributes {
    const { user } = this.#impersonation.attributes;
    const { verb } = this.#options;
    return { user, verb, isResource: true, path: '', group, version: 'v1', resource, subresource: '', namespace: '', name };
  }

  get #nameGroup(): string {
    return this.#options.isConstrained ? AUTHENTICATION_GROUP : '';
  }

  /** The groups that follow from the name alone, when it is a node's or a service account's. */
  async #demandName({ name, groups }: WantedUser): Promise<readonly string[] | undefined> {
    const account = parseServiceAccountUsername(name);
    const node = this.#options.isConstrained ? nodeName(name) : undefined;
    const right = this.#right('users', name, this.#nameGroup);
    if (node !== undefined) {
      await this.demand({ ...right, resource: 'nodes', name: node });
      return [NODES_GROUP];
    }
    await this.demand(account === undefined ? right : { ...right, resource: 'serviceaccounts', ...account });
    return account !== undefined && groups.length === 0 ? serviceAccountGroups(account.namespace) : undefined;
  }

  async #demandGroups(groups: readonly string[]): Promise<void> {
    const right = this.#right('groups', '', this.#nameGroup);
    if (this.#options.isConstrained) {
      if (groups.includes('')) throw forbidden(right, 'impersonating the empty string group is not allowed');
      if (groups.includes(PRIVILEGED_GROUP)) {
        throw forbidden({ ...right, name: PRIVILEGED_GROUP }, 'impersonating the system:masters group is not allowed');
      }
    }
    if (groups.length >= MANY_VALUES && (await this.#mayAll({ ...right, name: '*' }))) return;
    for (const name of groups) await this.demand({ ...right, name });
  }

  async #demandExtra(extra: WantedUser['extra']): Promise<void> {
    const right = this.#right('userextras', '', AUTHENTICATION_GROUP);
    const problem = this.#options.isConstrained ? extraProblem(extra) : undefined;
    if (problem !== undefined) throw forbidden(right, problem);
    const count = [...extra.values()].reduce((sum, values) => sum + values.length, 0);
    if (count >= MANY_VALUES && (await this.#mayAll({ ...right, subresource: '*', name: '*' }))) return;
    for (const [subresource, values] of extra) {
      for (const name of values) await this.demand({ ...right, subresource, name });
    }
  }

  async #mayAll(right: AuthorizationAttributes): Promise<boolean> {
    if (!this.#options.isConstrained) return false;
    const { verdict } = await this.#impersonation.authorizer.authorize(this.#options.rewrite(right));
    return verdict === 'allow';
  }
}

function withStandardGroup(name: string, groups: readonly string[]): readonly string[] {
  const isAnonymous = name === ANONYMOUS.name;
  if (!isAnonymous && groups.includes(UNAUTHENTICATED_GROUP)) return groups;
  const standard = isAnonymous ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP;
  return groups.includes(standard) ? groups : [...groups, standard];
}

function isOnlyNamed({ uid, groups, extra }: WantedUser): boolean {
  return uid === '' && groups.length === 0 && extra.size === 0;
}

function nodeName(username: string): string | undefined {
  if (!username.startsWith(NODE_USER_PREFIX)) return undefined;
  const name = username.slice(NODE_USER_PREFIX.length);
  return checkDns1123Subdomain(name).length === 0 ? name : undefined;
}

/** Whether a service account wants to be the node that its token says it runs on. */
function isAssociatedNode({ wanted, attributes: { user } }: Impersonation): boolean {
  const node = nodeName(wanted.name);
  if (node === undefined || !isOnlyNamed(wanted) || parseServiceAccountUsername(user.name) === undefined) return false;
  const claimed = user.extra?.[NODE_NAME_KEY] ?? [];
  return claimed.length === 1 && claimed[0] === node;
}

/** That right is one for whichever node it is: it names none, and what tells one pod of the account from another is left out. */
function asAnyNode(attributes: AuthorizationAttributes): AuthorizationAttributes {
  const { user, verb } = attributes;
  const extra = { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() };
  return { ...attributes, user: { ...user, extra }, ...(verb === 'impersonate:associated-node' && { name: '*' }) };
}

function extraProblem(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const errors = validateDomainPrefixedPath(Path.of('extra', 'key'), key);
    if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregateFieldErrors(errors)}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}
