import type { rbac } from '#api';
import { goQuote, StatusError } from '#machinery';
import type { UserInfo } from '../../authn/user.ts';
import type { ResourceStorage } from '../../registry/resource-storage.ts';
import { followCache } from '../../watch-cache/follow-cache.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import { type Binding, BindingIndex, bindingReason, subjectKeys } from './binding-index.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Where roles and bindings are kept. */
export interface RbacStorages {
  readonly roles: ResourceStorage;
  readonly roleBindings: ResourceStorage;
  readonly clusterRoles: ResourceStorage;
  readonly clusterRoleBindings: ResourceStorage;
}

/** The rules of a user, and what kept others from being found. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** Allows what a role allows that is bound to the user. It never denies: another authorizer may still allow. */
export class RbacAuthorizer implements Authorizer {
  readonly #storages: () => RbacStorages;
  readonly #bindings = new BindingIndex();
  readonly #clusterBindings = new BindingIndex();
  /** Users live as long as their credentials are remembered, so this is seldom made anew. */
  readonly #keys = new WeakMap<UserInfo, readonly string[]>();
  #resolved: RbacStorages | undefined;
  #started: Promise<void> | undefined;

  /** The storages are asked for when the first question comes, or at `start`. */
  constructor(storages: () => RbacStorages) {
    this.#storages = storages;
  }

  /** Afterwards every answer comes at once. */
  start(): Promise<void> {
    this.#started ??= this.#load().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #load(): Promise<void> {
    const storages = this.#storages();
    await Promise.all([
      storages.roles.cache.start(),
      storages.clusterRoles.cache.start(),
      followCache(storages.roleBindings.cache, this.#bindings),
      followCache(storages.clusterRoleBindings.cache, this.#clusterBindings),
    ]);
    this.#resolved = storages;
  }

  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision> {
    return this.#resolved === undefined ? this.start().then(() => this.#decide(attributes)) : this.#decide(attributes);
  }

  #decide(attributes: AuthorizationAttributes): Decision {
    const { user, namespace } = attributes;
    const errors: string[] = [];
    let allowing: Binding | undefined;
    this.#visit(user, namespace, (binding) => {
      const rules = this.#rulesOf(binding.roleRef, binding.namespace);
      if (rules === undefined) errors.push(missingText(binding.roleRef));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) allowing = binding;
      return allowing === undefined;
    });
    if (allowing !== undefined) return { verdict: 'allow', reason: bindingReason(allowing, this.#keysOf(user)) };
    return { verdict: 'no opinion', reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
  }

  #visit(user: UserInfo, namespace: string, visitor: (binding: Binding) => boolean): void {
    const keys = this.#keysOf(user);
    if (this.#clusterBindings.visit(keys, '', visitor) && namespace !== '') this.#bindings.visit(keys, namespace, visitor);
  }

  #keysOf(user: UserInfo): readonly string[] {
    let keys = this.#keys.get(user);
    if (keys === undefined) {
      keys = subjectKeys(user);
      this.#keys.set(user, keys);
    }
    return keys;
  }

  #rulesOf({ kind, name = '' }: rbac.RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const { roles, clusterRoles } = this.#resolved!;
    const storage = kind === 'ClusterRole' ? clusterRoles : roles;
    const role = storage.cache.get(storage.keyOf(namespace, name));
    return role && ((role.object as unknown as rbac.Role).rules ?? []);
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<ResolvedRules> {
    const { rules, errors } = await this.userRules(user, namespace);
    return {
      resourceRules: rules.filter(({ resources }) => resources?.length).map(resourceRule),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(errors.length > 0 && { evaluationError: aggregate(errors) }),
    };
  }

  async userRules(user: UserInfo, namespace: string): Promise<UserRules> {
    await this.start();
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    this.#visit(user, namespace, (binding) => {
      const found = this.#rulesOf(binding.roleRef, binding.namespace);
      if (found === undefined) errors.push(missingText(binding.roleRef));
      else rules.push(...found);
      return true;
    });
    return { rules, errors };
  }

  /** The rules that a binding in the namespace would grant. Throws NotFound, which names the bindings rather than the role, as upstream does. */
  async referencedRules(roleRef: rbac.RoleRef, namespace: string): Promise<readonly PolicyRule[]> {
    await this.start();
    const { roles, clusterRoles } = this.#resolved!;
    const isCluster = roleRef.kind === 'ClusterRole';
    if (!isCluster && roleRef.kind !== 'Role') throw new Error(`unsupported role reference kind: ${goQuote(roleRef.kind)}`);
    const role = await (isCluster ? clusterRoles : roles).get(isCluster ? '' : namespace, roleRef.name ?? '');
    const resource = namespace === '' ? 'clusterrolebindings' : 'rolebindings';
    if (role === undefined) throw StatusError.notFound({ group: RBAC_GROUP, resource }, roleRef.name ?? '');
    return (role.object as unknown as rbac.Role).rules ?? [];
  }
}

function resourceRule({ verbs, apiGroups = [], resources = [], resourceNames }: PolicyRule) {
  return { verbs, apiGroups, resources, ...(resourceNames?.length && { resourceNames }) };
}

function missingText({ kind, name = '' }: rbac.RoleRef): string {
  if (kind !== 'Role' && kind !== 'ClusterRole') return `unsupported role reference kind: ${goQuote(kind)}`;
  return `${kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(name)} not found`;
}

/** Several errors as one text, each once. */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}
