import type { rbac } from '#api';
import { goQuote } from '#machinery';
import { serviceAccountUsername } from '../../authn/service-accounts/username.ts';
import type { UserInfo } from '../../authn/user.ts';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { CacheFollower } from '../../watch-cache/follow-cache.ts';

/** A role binding, taken apart for the question whom it concerns. */
export interface Binding {
  readonly roleRef: rbac.RoleRef;
  /** Empty for a cluster role binding. */
  readonly namespace: string;
  readonly subjects: readonly BoundSubject[];
}

interface BoundSubject {
  /** Undefined for a kind of subject that nobody can be. */
  readonly key: string | undefined;
  /** The words that explain a decision. */
  readonly reason: string;
}

/** Bindings by whom they bind: a user is found by name and groups without looking at anybody else's bindings. */
export class BindingIndex implements CacheFollower {
  readonly #byKey = new Map<string, Binding>();
  readonly #bySubject = new Map<string, Set<Binding>>();

  reset(): void {
    this.#byKey.clear();
    this.#bySubject.clear();
  }

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

  /** The bindings in a namespace (or, for the empty one, in the cluster) that bind who has these keys; each is visited once. False ends the visit. */
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

/** Why the binding concerns the user: the words for its first subject that is the user or a group of theirs. */
export function bindingReason(binding: Binding, keys: readonly string[]): string {
  return firstSubject(binding, keys)?.reason ?? '';
}

function firstSubject({ subjects }: Binding, keys: readonly string[]): BoundSubject | undefined {
  return subjects.length === 1 ? subjects[0] : subjects.find(({ key }) => key !== undefined && keys.includes(key));
}

/** What a user is found by. */
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

/** A service account is bound as the user it is. In a role binding it may leave out the namespace they share. */
function keyOf({ kind, name = '', namespace }: rbac.Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return `${kind}/${name}`;
  const home = namespace || bindingNamespace;
  return kind === 'ServiceAccount' && home !== '' ? `User/${serviceAccountUsername({ namespace: home, name })}` : undefined;
}

function describe({ kind, name = '', namespace }: rbac.Subject, bindingNamespace: string): string {
  return `${kind} ${goQuote(kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name)}`;
}
