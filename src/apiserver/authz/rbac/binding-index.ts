import type { rbac } from '#api';
import { goQuote } from '#machinery';
import { serviceAccountUsername } from '../../authn/service-accounts/username.ts';
import type { UserInfo } from '../../request/user.ts';
import type { CacheFollower } from '../../watch-cache/cache-followers.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';

/** A role binding with its subjects indexed. */
export interface Binding {
  readonly roleRef: rbac.RoleRef;
  /** Empty for a cluster role binding. */
  readonly namespace: string;
  readonly subjects: readonly BoundSubject[];
}

interface BoundSubject {
  /** Undefined for unknown subject kinds. */
  readonly key: string | undefined;
  /** Text that explains a decision. */
  readonly reason: string;
}

/** Bindings indexed by subject, so that only the bindings of a user and the user's groups are evaluated. */
export class BindingIndex implements CacheFollower {
  readonly #byKey = new Map<string, Binding>();
  readonly #bySubject = new Map<string, Set<Binding>>();

  put(key: string, object: KubeObject): void {
    this.remove(key);
    const binding = bindingOf(object as unknown as rbac.RoleBinding & KubeObject);
    this.#byKey.set(key, binding);
    for (const place of placesOf(binding)) this.#bySubject.set(place, (this.#bySubject.get(place) ?? new Set()).add(binding));
  }

  remove(key: string): void {
    const binding = this.#byKey.get(key);
    if (binding === undefined) return;
    this.#byKey.delete(key);
    for (const place of placesOf(binding)) {
      const bindings = this.#bySubject.get(place);
      bindings?.delete(binding);
      if (bindings?.size === 0) this.#bySubject.delete(place);
    }
  }

  /** Visits the bindings of these subjects in a namespace (empty: cluster-wide), each once. Returning false ends the visit. */
  visit(keys: readonly string[], namespace: string, visitor: (binding: Binding) => boolean): boolean {
    for (const key of keys) {
      for (const binding of this.#bySubject.get(placeOf(namespace, key)) ?? NO_BINDINGS) {
        if (firstSubject(binding, keys)?.key === key && !visitor(binding)) return false;
      }
    }
    return true;
  }
}

const NO_BINDINGS: ReadonlySet<Binding> = new Set();

/** The reason text for the first subject that matches the user. */
export function bindingReason(binding: Binding, keys: readonly string[]): string {
  return firstSubject(binding, keys)?.reason ?? '';
}

function firstSubject({ subjects }: Binding, keys: readonly string[]): BoundSubject | undefined {
  return subjects.length === 1 ? subjects[0] : subjects.find(({ key }) => key !== undefined && keys.includes(key));
}

/** Index keys of a user: name and groups. */
export function subjectKeys({ name, groups }: UserInfo): readonly string[] {
  return [`User/${name}`, ...new Set(groups.map((group) => `Group/${group}`))];
}

function placesOf({ namespace, subjects }: Binding): readonly string[] {
  return subjects.flatMap(({ key }) => (key === undefined ? [] : [placeOf(namespace, key)]));
}

function placeOf(namespace: string, key: string): string {
  return namespace === '' ? key : `${namespace}\n${key}`;
}

function bindingOf({ metadata, roleRef, subjects = [] }: rbac.RoleBinding & KubeObject): Binding {
  const { namespace = '', name } = metadata;
  const source = namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  const of = `RBAC: allowed by ${source} of ${roleRef.kind} ${goQuote(roleRef.name ?? '')} to`;
  return {
    roleRef,
    namespace,
    subjects: subjects.map((subject) => ({ key: keyOf(subject, namespace), reason: `${of} ${describe(subject, namespace)}` })),
  };
}

/** A service account is indexed as its username. In a role binding its namespace may be omitted. */
function keyOf({ kind, name = '', namespace }: rbac.Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return `${kind}/${name}`;
  const home = namespace || bindingNamespace;
  return kind === 'ServiceAccount' && home !== '' ? `User/${serviceAccountUsername({ namespace: home, name })}` : undefined;
}

function describe({ kind, name = '', namespace }: rbac.Subject, bindingNamespace: string): string {
  return `${kind} ${goQuote(kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name)}`;
}
