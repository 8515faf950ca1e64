import { aggregateFieldErrors, checkDns1123Subdomain, goQuote, Path, validateDomainPrefixedPath } from '#machinery';
import { NODE_NAME_KEY } from '../authn/service-accounts/bound-claims.ts';
import { parseServiceAccountUsername, serviceAccountGroups } from '../authn/service-accounts/username.ts';
import type { AuthorizationAttributes } from '../authz/authorizer.ts';
import { forbiddenError } from '../authz/denial-error.ts';
import {
  ANONYMOUS,
  AUTHENTICATED_GROUP,
  NODE_USER_PREFIX,
  NODES_GROUP,
  PRIVILEGED_GROUP,
  UNAUTHENTICATED_GROUP,
  type UserInfo,
} from '../request/user.ts';
import type { Impersonation } from './impersonation.ts';

/** The user in the impersonation headers. */
export interface ImpersonatedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface ImpersonationMode {
  readonly name: string;
  /** Requires a permission for this very action as the user, not only to impersonate. */
  readonly isConstrained: boolean;
  applies(impersonation: Impersonation): boolean;
  /** The impersonated user. Throws Forbidden when this mode does not allow it. */
  check(impersonation: Impersonation): Promise<UserInfo>;
}

const AUTHENTICATION_GROUP = 'authentication.k8s.io';
/** With at least this many values, permission for all of them (`*`) is checked first. */
const MANY_VALUES = 4;

/** Impersonation modes in the order in which they are tried. */
export const IMPERSONATION_MODES: readonly ImpersonationMode[] = [
  constrained('associated-node', isAssociatedNode, asAnyNode),
  constrained('arbitrary-node', ({ target }) => isOnlyNamed(target) && nodeName(target.name) !== undefined),
  constrained('serviceaccount', ({ target }) => isOnlyNamed(target) && parseServiceAccountUsername(target.name) !== undefined),
  constrained('user-info', ({ target }) => nodeName(target.name) === undefined && parseServiceAccountUsername(target.name) === undefined),
  legacy(),
];

type Rewrite = (attributes: AuthorizationAttributes) => AuthorizationAttributes;

/** Requires permission for this action as another user, and to impersonate the target. */
function constrained(
  name: string,
  applies: ImpersonationMode['applies'],
  rewrite: Rewrite = (attributes) => attributes,
): ImpersonationMode {
  return {
    name,
    isConstrained: true,
    applies,
    async check(impersonation) {
      const { attributes } = impersonation;
      const rights = new Rights(impersonation, { verb: `impersonate:${name}`, isConstrained: true, rewrite });
      await rights.demand({ ...attributes, verb: `impersonate-on:${name}:${attributes.verb}` });
      return rights.impersonatedUser();
    },
  };
}

/** Requires permission to impersonate the target, for any action. */
function legacy(): ImpersonationMode {
  return {
    name: 'legacy',
    isConstrained: false,
    applies: () => true,
    check: (impersonation) =>
      new Rights(impersonation, { verb: 'impersonate', isConstrained: false, rewrite: (attributes) => attributes }).impersonatedUser(),
  };
}

interface RightsOptions {
  readonly verb: string;
  readonly isConstrained: boolean;
  readonly rewrite: Rewrite;
}

/** The impersonation permissions: for the name, each group, the uid and each extra value. */
class Rights {
  readonly #impersonation: Impersonation;
  readonly #options: RightsOptions;

  constructor(impersonation: Impersonation, options: RightsOptions) {
    this.#impersonation = impersonation;
    this.#options = options;
  }

  async impersonatedUser(): Promise<UserInfo> {
    const { target } = this.#impersonation;
    const impliedGroups = await this.#demandName(target);
    if (target.uid !== '') await this.demand(this.#right('uids', target.uid, AUTHENTICATION_GROUP));
    await this.#demandGroups(target.groups);
    await this.#demandExtra(target.extra);
    return {
      name: target.name,
      ...(target.uid !== '' && { uid: target.uid }),
      groups: withStandardGroup(target.name, impliedGroups ?? target.groups),
      ...(target.extra.size > 0 && { extra: Object.fromEntries(target.extra) }),
    };
  }

  async demand(permission: AuthorizationAttributes): Promise<void> {
    const attributes = this.#options.rewrite(permission);
    const { verdict, reason, error } = await this.#impersonation.authorizer.authorize(attributes);
    if (verdict === 'allow') return;
    throw forbiddenError(attributes, error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`);
  }

  #right(resource: string, name: string, group: string): AuthorizationAttributes {
    const { user } = this.#impersonation.attributes;
    const { verb } = this.#options;
    return { user, verb, isResource: true, path: '', group, version: 'v1', resource, subresource: '', namespace: '', name };
  }

  get #nameGroup(): string {
    return this.#options.isConstrained ? AUTHENTICATION_GROUP : '';
  }

  /** The groups implied by the name of a node or service account. */
  async #demandName({ name, groups }: ImpersonatedUser): Promise<readonly string[] | undefined> {
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
      if (groups.includes('')) throw forbiddenError(right, 'impersonating the empty string group is not allowed');
      if (groups.includes(PRIVILEGED_GROUP)) {
        throw forbiddenError({ ...right, name: PRIVILEGED_GROUP }, 'impersonating the system:masters group is not allowed');
      }
    }
    if (groups.length >= MANY_VALUES && (await this.#mayAll({ ...right, name: '*' }))) return;
    for (const name of groups) await this.demand({ ...right, name });
  }

  async #demandExtra(extra: ImpersonatedUser['extra']): Promise<void> {
    const right = this.#right('userextras', '', AUTHENTICATION_GROUP);
    const problem = this.#options.isConstrained ? extraProblem(extra) : undefined;
    if (problem !== undefined) throw forbiddenError(right, problem);
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

function isOnlyNamed({ uid, groups, extra }: ImpersonatedUser): boolean {
  return uid === '' && groups.length === 0 && extra.size === 0;
}

function nodeName(username: string): string | undefined {
  if (!username.startsWith(NODE_USER_PREFIX)) return undefined;
  const name = username.slice(NODE_USER_PREFIX.length);
  return checkDns1123Subdomain(name).length === 0 ? name : undefined;
}

/** Whether a service account impersonates the node that its token is bound to. */
function isAssociatedNode({ target, attributes: { user } }: Impersonation): boolean {
  const node = nodeName(target.name);
  if (node === undefined || !isOnlyNamed(target) || parseServiceAccountUsername(user.name) === undefined) return false;
  const claimed = user.extra?.[NODE_NAME_KEY] ?? [];
  return claimed.length === 1 && claimed[0] === node;
}

/** The permission applies to any node: without the name, and without the identity of the pod. */
function asAnyNode(attributes: AuthorizationAttributes): AuthorizationAttributes {
  const { user, verb } = attributes;
  const extra = { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() };
  return { ...attributes, user: { ...user, extra }, ...(verb === 'impersonate:associated-node' && { name: '*' }) };
}

function extraProblem(extra: ImpersonatedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const errors = validateDomainPrefixedPath(Path.of('extra', 'key'), key);
    if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregateFieldErrors(errors)}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}
