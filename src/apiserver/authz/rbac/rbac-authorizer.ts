import type { rbac } from '#api';
import { pushAll } from '#base';
import { goQuote, StatusError } from '#machinery';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { UserInfo } from '../../request/user.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import { type Binding, BindingIndex, bindingReason, subjectKeys } from './binding-index.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Storages of roles and bindings. */
export interface RbacStorages {
  readonly roles: ResourceStorage;
  readonly roleBindings: ResourceStorage;
  readonly clusterRoles: ResourceStorage;
  readonly clusterRoleBindings: ResourceStorage;
}

/** A user's rules, and errors of bindings that could not be resolved. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** Allows what the user's roles allow. It never denies: another authorizer may still allow. */
export class RbacAuthorizer implements Authorizer {
  readonly #storages: () => RbacStorages;
  readonly #bindings = new BindingIndex();
  readonly #clusterBindings = new BindingIndex();
  /** A UserInfo lives as long as its credentials are cached, so keys are rarely computed again. */
  readonly #keys = new WeakMap<UserInfo, readonly string[]>();
  #resolved: RbacStorages | undefined;

  /** The storages are resolved on first use, or in `start`. */
  constructor(storages: () => RbacStorages) {
    this.#storages = storages;
  }

  /** Reads roles and bindings; decisions are synchronous from then on. Rejects if they cannot be read: everything is denied then. */
  async start(): Promise<void> {
    const { roles, clusterRoles } = this.#follow();
    while (!this.#isCurrent) {
      await Promise.all([roles.cache.start(), clusterRoles.cache.start(), ...this.#bindingCaches().map((cache) => cache.start())]);
    }
  }

  #follow(): RbacStorages {
    if (this.#resolved !== undefined) return this.#resolved;
    this.#resolved = this.#storages();
    const { roleBindings, clusterRoleBindings } = this.#resolved;
    // `start` rejects with this error.
    void roleBindings.cache.follow(this.#bindings).catch(() => {});
    void clusterRoleBindings.cache.follow(this.#clusterBindings).catch(() => {});
    return this.#resolved;
  }

  #bindingCaches() {
    return [this.#resolved!.roleBindings.cache, this.#resolved!.clusterRoleBindings.cache];
  }

  /** False while a cache is reloading: permissions may have been revoked since. */
  get #isCurrent(): boolean {
    const storages = this.#resolved;
    return (
      storages?.roleBindings.cache.isStarted === true &&
      storages.clusterRoleBindings.cache.isStarted &&
      storages.roles.cache.isStarted &&
      storages.clusterRoles.cache.isStarted
    );
  }

  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision> {
    return this.#isCurrent ? this.#decide(attributes) : this.start().then(() => this.#decide(attributes));
  }

  #decide(attributes: AuthorizationAttributes): Decision {
    const { user, namespace } = attributes;
    const errors: string[] = [];
    let allowedBy: Binding | undefined;
    this.#visit(user, namespace, (binding) => {
      const rules = this.#rulesOf(binding.roleRef, binding.namespace);
      if (rules === undefined) errors.push(missingText(binding.roleRef));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) allowedBy = binding;
      return allowedBy === undefined;
    });
    if (allowedBy !== undefined) return { verdict: 'allow', reason: bindingReason(allowedBy, this.#keysOf(user)) };
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
      const roleRules = this.#rulesOf(binding.roleRef, binding.namespace);
      if (roleRules === undefined) errors.push(missingText(binding.roleRef));
      else pushAll(rules, roleRules);
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
